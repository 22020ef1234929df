WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CASE
      WHEN MIN(t."age_min") IS NULL THEN
        1
      ELSE
        0
    END AS m0,
    COALESCE(CAST(MIN(t."age_min") AS DOUBLE PRECISION), LEAST(0e0, CAST(MIN(t."age_max") AS DOUBLE PRECISION))) AS x0,
    CAST(MIN(t."age_max") AS DOUBLE PRECISION) AS y0,
    COALESCE(MIN(t."zip_code"), '') AS t2
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), set_2 AS (
  SELECT
    COALESCE(m."label", '') AS t,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('12010', '12014', '12022', '12026', '12030', '12034', '12042', '12046', '12054', '12066', '12070', '12074', '12078', '12106', '12111', '12116', '12121', '12126', '12131', '12141', '12146', '12151', '12156', '12161', '12176', '12202', '12204', '12206', '12208', '12210', '12212', '12214', '12216', '12218', '12220', '12222', '12224', '12226', '12228')) AS DOUBLE PRECISION) AS s0,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('01201', '01204', '01207', '01210', '01213', '01216', '01219', '01222', '01225', '01228', '01231', '01234', '01237', '01240', '01243', '01246', '01252', '01258', '01261', '01267', '01276', '01301', '01308', '01315', '01322', '01329', '01336', '01343', '01350', '01371', '06702', '06710', '06718', '06726', '06734', '06758', '06766', '06774')) AS DOUBLE PRECISION) AS s1
  FROM
    "members" AS m
  WHERE
    m."attribute" = 'zip_code'
  GROUP BY
    COALESCE(m."label", '')
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE labels.y0 - labels.x0 + 1 END) + labels.m0 AS DOUBLE PRECISION) AS p0,
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 60) - GREATEST(labels.x0, 30) + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 29) - labels.x0 + 1) + GREATEST(0, labels.y0 - GREATEST(labels.x0, 61) + 1) END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
    set_2.p AS p2,
    set_2.s0 AS s2_0,
    set_2.s1 AS s2_1
  FROM
    labels
    INNER JOIN set_2 ON set_2.t = labels.t2
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s0_0 / spans.p0 * (spans.s2_0 / spans.p2) AS DOUBLE PRECISION) AS r0,
    CAST(spans.s0_1 / spans.p0 + spans.s0_0 / spans.p0 * (spans.s2_1 / spans.p2) AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s0_0 > 0 AND spans.s2_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s0_1 > 0 OR spans.s0_0 > 0 AND spans.s2_1 > 0 THEN
        0
      ELSE
        spans.n
    END AS l0
  FROM
    spans
), hits AS (
  SELECT
    shares.g AS g,
    shares.n AS n,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) AS e0,
    LEAST(shares.l0, shares.u0) AS l0,
    shares.u0 AS u0,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) * LEAST(1, COALESCE(shares.q0, 0)) AS v0
  FROM
    shares
  WHERE
    shares.u0 > 0
), cells AS (
  SELECT
    hits.g AS g,
    hits.n AS n,
    hits.e0 AS e0,
    hits.l0 AS l0,
    hits.u0 AS u0,
    hits.v0 AS v0
  FROM
    hits
  WHERE
    hits.u0 > 0
), merged AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w
  FROM
    cells
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer;
WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    COALESCE(MIN(t."sex"), '') AS t1
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), set_1 AS (
  SELECT
    COALESCE(m."label", '') AS t,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p
  FROM
    "members" AS m
  WHERE
    m."attribute" = 'sex'
  GROUP BY
    COALESCE(m."label", '')
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    set_1.p AS p1
  FROM
    labels
    INNER JOIN set_1 ON set_1.t = labels.t1
), key_0 AS (
  SELECT
    labels.g AS g,
    m."value" AS k
  FROM
    labels
    INNER JOIN "members" AS m ON m."attribute" = 'sex' AND COALESCE(m."label", '') = labels.t1
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    key_0.k AS k0,
    CAST(1e0 / spans.p1 AS DOUBLE PRECISION) AS r0,
    CAST(CASE WHEN spans.p1 <= 1 THEN 0 ELSE 1 - 1e0 / spans.p1 END AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN 1 = 1 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.p1 > 1 THEN
        0
      ELSE
        spans.n
    END AS l0
  FROM
    spans
    INNER JOIN key_0 ON key_0.g = spans.g
), hits AS (
  SELECT
    shares.g AS g,
    shares.n AS n,
    shares.k0 AS k0,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) AS e0,
    LEAST(shares.l0, shares.u0) AS l0,
    shares.u0 AS u0,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) * LEAST(1, COALESCE(shares.q0, 0)) AS v0
  FROM
    shares
  WHERE
    shares.u0 > 0
), sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE s."disease" IN ('asthma', 'influenza')) AS DOUBLE PRECISION) AS cw
  FROM
    "generalized" AS s
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.k0 AS k0,
    hits.e0 AS e0,
    hits.l0 AS l0,
    hits.u0 AS u0,
    hits.v0 AS v0,
    sizes.cw AS cw,
    GREATEST(0, hits.l0 + sizes.cw - sizes.n) AS lo0w,
    LEAST(hits.u0, sizes.cw) AS hi0w
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.u0, sizes.cw) > 0
), merged AS (
  SELECT
    cells.k0 AS k0,
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
  FROM
    cells
  GROUP BY
    cells.k0
)
SELECT
  answer.k0 AS "sex",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST;
