WITH counted AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0
  FROM
    "generalized" AS q
), merged AS (
  SELECT
    counted.e0 AS ce0w
  FROM
    counted
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer;
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
    COALESCE(MIN(t."sex"), '') AS t1
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), set_1 AS (
  SELECT
    COALESCE(m."label", '') AS t,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('F')) AS DOUBLE PRECISION) AS s0,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('M')) AS DOUBLE PRECISION) AS s1
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
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE labels.y0 - labels.x0 + 1 END) + labels.m0 AS DOUBLE PRECISION) AS p0,
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 60) - GREATEST(labels.x0, 30) + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 29) - labels.x0 + 1) + GREATEST(0, labels.y0 - GREATEST(labels.x0, 61) + 1) END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
    set_1.p AS p1,
    set_1.s0 AS s1_0,
    set_1.s1 AS s1_1
  FROM
    labels
    INNER JOIN set_1 ON set_1.t = labels.t1
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s0_0 / spans.p0 * (spans.s1_0 / spans.p1) AS DOUBLE PRECISION) AS r0,
    CAST(spans.s0_1 / spans.p0 + spans.s0_0 / spans.p0 * (spans.s1_1 / spans.p1) AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s0_0 > 0 AND spans.s1_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s0_1 > 0 OR spans.s0_0 > 0 AND spans.s1_1 > 0 THEN
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
), sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE s."disease" IN ('urinary infection')) AS DOUBLE PRECISION) AS cw
  FROM
    "generalized" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
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
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
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
WITH merged AS (
  SELECT
    CAST(COUNT(*) FILTER (WHERE s."disease" IN ('asthma', 'influenza')) AS DOUBLE PRECISION) AS ce0w
  FROM
    "generalized" AS s
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer;
WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    COALESCE(MIN(t."sex"), '') AS t1,
    CASE
      WHEN MIN(t."fitness_min") IS NULL THEN
        1
      ELSE
        0
    END AS m4,
    COALESCE(CAST(CASE WHEN MIN(t."fitness_min") = 'low' THEN 0 WHEN MIN(t."fitness_min") = 'middle' THEN 1 WHEN MIN(t."fitness_min") = 'high' THEN 2 END AS DOUBLE PRECISION), LEAST(0e0, CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION))) AS x4,
    CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION) AS y4
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), set_1 AS (
  SELECT
    COALESCE(m."label", '') AS t,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('F')) AS DOUBLE PRECISION) AS s0,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('M')) AS DOUBLE PRECISION) AS s1
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
    set_1.p AS p1,
    set_1.s0 AS s1_0,
    set_1.s1 AS s1_1,
    CAST(labels.y4 - labels.x4 + 1 AS DOUBLE PRECISION) AS p4,
    CAST(GREATEST(0, LEAST(labels.y4, 2) - GREATEST(labels.x4, 1) + 1) AS DOUBLE PRECISION) AS s4_0,
    CAST(GREATEST(0, LEAST(labels.y4, 0) - GREATEST(labels.x4, 0) + 1) AS DOUBLE PRECISION) AS s4_1
  FROM
    labels
    INNER JOIN set_1 ON set_1.t = labels.t1
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s1_0 / spans.p1 * (spans.s4_0 / spans.p4) AS DOUBLE PRECISION) AS r0,
    CAST(spans.s1_1 / spans.p1 + spans.s1_0 / spans.p1 * (spans.s4_1 / spans.p4) AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s1_0 > 0 AND spans.s4_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s1_1 > 0 OR spans.s1_0 > 0 AND spans.s4_1 > 0 THEN
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
), sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE s."disease" IS NOT NULL) AS DOUBLE PRECISION) AS ca
  FROM
    "generalized" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.e0 AS e0,
    hits.l0 AS l0,
    hits.u0 AS u0,
    hits.v0 AS v0,
    sizes.ca AS ca,
    GREATEST(0, hits.l0 + sizes.ca - sizes.n) AS lo0a,
    LEAST(hits.u0, sizes.ca) AS hi0a
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.u0 > 0
), merged AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    SUM(cells.e0 * (cells.ca / cells.n)) AS ce0a,
    SUM(cells.lo0a) AS cl0a,
    SUM(cells.hi0a) AS cu0a,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.ca * (cells.n - cells.ca) / cells.n / cells.n) + cells.v0 * (cells.ca / cells.n * (cells.ca / cells.n))) AS cv0a
  FROM
    cells
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error",
  CAST(COALESCE(answer.ce0a, 0) AS DOUBLE PRECISION) AS "count_disease_estimate",
  CAST(COALESCE(answer.cl0a, 0) AS DOUBLE PRECISION) AS "count_disease_lower",
  CAST(COALESCE(answer.cu0a, 0) AS DOUBLE PRECISION) AS "count_disease_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0a, 0))) AS DOUBLE PRECISION) AS "count_disease_std_error"
FROM
  merged AS answer;
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
    COALESCE(MIN(t."occupation"), '') AS t2
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), set_2 AS (
  SELECT
    COALESCE(m."label", '') AS t,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('builder', 'clerk', 'driver', 'electrician', 'engineer', 'farmer', 'homemaker', 'job seeker', 'nurse', 'programmer', 'retired', 'sales assistant', 'student', 'teacher') OR m."value" IS NULL) AS DOUBLE PRECISION) AS s0,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('child', 'cook', 'physician', 'pupil')) AS DOUBLE PRECISION) AS s1
  FROM
    "members" AS m
  WHERE
    m."attribute" = 'occupation'
  GROUP BY
    COALESCE(m."label", '')
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE labels.y0 - labels.x0 + 1 END) + labels.m0 AS DOUBLE PRECISION) AS p0,
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, labels.y0 - labels.x0 + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE 0 END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
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
    CAST(spans.s2_0 / spans.p2 AS DOUBLE PRECISION) AS r0,
    CAST(spans.s2_1 / spans.p2 AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s2_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s2_1 > 0 THEN
        0
      ELSE
        spans.n
    END AS l0,
    CAST(spans.s0_0 / spans.p0 * (spans.s2_0 / spans.p2) AS DOUBLE PRECISION) AS r1,
    CAST(spans.s2_1 / spans.p2 + spans.s0_1 / spans.p0 * (spans.s2_0 / spans.p2) AS DOUBLE PRECISION) AS q1,
    CASE
      WHEN spans.s0_0 > 0 AND spans.s2_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u1,
    CASE
      WHEN spans.s2_1 > 0 OR spans.s0_1 > 0 AND spans.s2_0 > 0 THEN
        0
      ELSE
        spans.n
    END AS l1
  FROM
    spans
), hits AS (
  SELECT
    shares.g AS g,
    shares.n AS n,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) AS e0,
    LEAST(shares.l0, shares.u0) AS l0,
    shares.u0 AS u0,
    shares.n * LEAST(1, COALESCE(shares.r0, 0)) * LEAST(1, COALESCE(shares.q0, 0)) AS v0,
    shares.n * LEAST(1, COALESCE(shares.r1, 0)) AS e1,
    LEAST(shares.l1, shares.u1) AS l1,
    shares.u1 AS u1,
    shares.n * LEAST(1, COALESCE(shares.r1, 0)) * LEAST(1, COALESCE(shares.q1, 0)) AS v1
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
    hits.v0 AS v0,
    hits.e1 AS e1,
    hits.l1 AS l1,
    hits.u1 AS u1,
    hits.v1 AS v1
  FROM
    hits
  WHERE
    hits.u0 > 0
), merged AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    SUM(cells.e1) AS ce1w,
    SUM(cells.l1) AS cl1w,
    SUM(cells.u1) AS cu1w,
    SUM(cells.v1 * (cells.n / cells.n * (cells.n / cells.n))) AS cv1w
  FROM
    cells
)
SELECT
  CAST(COALESCE(answer.ce1w, 0) AS DOUBLE PRECISION) AS "count_age_estimate",
  CAST(COALESCE(answer.cl1w, 0) AS DOUBLE PRECISION) AS "count_age_lower",
  CAST(COALESCE(answer.cu1w, 0) AS DOUBLE PRECISION) AS "count_age_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv1w, 0))) AS DOUBLE PRECISION) AS "count_age_std_error"
FROM
  merged AS answer;
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
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE labels.y0 - labels.x0 + 1 END) + labels.m0 AS DOUBLE PRECISION) AS p0,
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 49) - labels.x0 + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, labels.y0 - GREATEST(labels.x0, 50) + 1) END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
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
    CAST(spans.s0_0 / spans.p0 / spans.p1 AS DOUBLE PRECISION) AS r0,
    CAST(CASE WHEN spans.p1 <= 1 THEN spans.s0_1 / spans.p0 ELSE 1 - spans.s0_0 / spans.p0 / spans.p1 END AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s0_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s0_1 > 0 OR spans.p1 > 1 THEN
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
), cells AS (
  SELECT
    hits.g AS g,
    hits.n AS n,
    hits.k0 AS k0,
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
    cells.k0 AS k0,
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w
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
WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CASE
      WHEN MIN(t."admission_date_min") IS NULL THEN
        1
      ELSE
        0
    END AS m3,
    COALESCE(CAST(MIN(t."admission_date_min") - DATE '1970-01-01' AS DOUBLE PRECISION), LEAST(1.9362e4, CAST(MIN(t."admission_date_max") - DATE '1970-01-01' AS DOUBLE PRECISION))) AS x3,
    CAST(MIN(t."admission_date_max") - DATE '1970-01-01' AS DOUBLE PRECISION) AS y3
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    CAST(labels.y3 - labels.x3 + 1 AS DOUBLE PRECISION) AS p3,
    CAST(GREATEST(0, labels.y3 - GREATEST(labels.x3, 19875) + 1) AS DOUBLE PRECISION) AS s3_0,
    CAST(GREATEST(0, LEAST(labels.y3, 19874) - labels.x3 + 1) AS DOUBLE PRECISION) AS s3_1
  FROM
    labels
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s3_0 / spans.p3 AS DOUBLE PRECISION) AS r0,
    CAST(spans.s3_1 / spans.p3 AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s3_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s3_1 > 0 THEN
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
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n
  FROM
    "generalized" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS c
  FROM
    "generalized" AS s
  GROUP BY
    s."group_id", s."disease"
), sizes AS (
  SELECT
    value_sizes.g AS g,
    value_sizes.k AS k0,
    group_sizes.n AS n,
    value_sizes.c AS cw
  FROM
    value_sizes
    INNER JOIN group_sizes ON group_sizes.g = value_sizes.g
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    sizes.k0 AS k0,
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
  answer.k0 AS "disease",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST;
WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CASE
      WHEN MIN(t."fitness_min") IS NULL THEN
        1
      ELSE
        0
    END AS m4,
    COALESCE(CAST(CASE WHEN MIN(t."fitness_min") = 'low' THEN 0 WHEN MIN(t."fitness_min") = 'middle' THEN 1 WHEN MIN(t."fitness_min") = 'high' THEN 2 END AS DOUBLE PRECISION), LEAST(0e0, CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION))) AS x4,
    CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION) AS y4
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    CAST(labels.y4 - labels.x4 + 1 AS DOUBLE PRECISION) AS p4
  FROM
    labels
), key_0_series_digits AS (
  SELECT
    0 AS i
  UNION ALL
  SELECT
    1 AS i
  UNION ALL
  SELECT
    2 AS i
  UNION ALL
  SELECT
    3 AS i
  UNION ALL
  SELECT
    4 AS i
  UNION ALL
  SELECT
    5 AS i
  UNION ALL
  SELECT
    6 AS i
  UNION ALL
  SELECT
    7 AS i
  UNION ALL
  SELECT
    8 AS i
  UNION ALL
  SELECT
    9 AS i
), key_0_series AS (
  SELECT
    d0.i AS i
  FROM
    key_0_series_digits AS d0
  WHERE
    d0.i < 3
), key_0 AS (
  SELECT
    labels.g AS g,
    CAST(0 + key_0_series.i AS DOUBLE PRECISION) AS k
  FROM
    labels
    INNER JOIN key_0_series ON labels.x4 <= CAST(0 + key_0_series.i AS DOUBLE PRECISION) AND labels.y4 >= CAST(0 + key_0_series.i AS DOUBLE PRECISION)
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    key_0.k AS k0,
    CAST(1e0 / spans.p4 AS DOUBLE PRECISION) AS r0,
    CAST(CASE WHEN spans.p4 <= 1 THEN 0 ELSE 1 - 1e0 / spans.p4 END AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN 1 = 1 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.p4 > 1 THEN
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
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n
  FROM
    "generalized" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS c
  FROM
    "generalized" AS s
  WHERE
    s."disease" IN ('alcohol dependence', 'appendicitis', 'asthma')
  GROUP BY
    s."group_id", s."disease"
), sizes AS (
  SELECT
    value_sizes.g AS g,
    value_sizes.k AS k1,
    group_sizes.n AS n,
    value_sizes.c AS cw
  FROM
    value_sizes
    INNER JOIN group_sizes ON group_sizes.g = value_sizes.g
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.k0 AS k0,
    sizes.k1 AS k1,
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
    cells.k1 AS k1,
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
  FROM
    cells
  GROUP BY
    cells.k0, cells.k1
)
SELECT
  CASE
    WHEN answer.k0 = 0 THEN
      'low'
    WHEN answer.k0 = 1 THEN
      'middle'
    WHEN answer.k0 = 2 THEN
      'high'
  END AS "fitness",
  answer.k1 AS "disease",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer ORDER BY answer.k0 NULLS FIRST, answer.k1 COLLATE "C" NULLS FIRST;
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
    CASE
      WHEN MIN(t."fitness_min") IS NULL THEN
        1
      ELSE
        0
    END AS m4,
    COALESCE(CAST(CASE WHEN MIN(t."fitness_min") = 'low' THEN 0 WHEN MIN(t."fitness_min") = 'middle' THEN 1 WHEN MIN(t."fitness_min") = 'high' THEN 2 END AS DOUBLE PRECISION), LEAST(0e0, CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION))) AS x4,
    CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION) AS y4
  FROM
    "generalized" AS t
  GROUP BY
    t."group_id"
), spans AS (
  SELECT
    labels.g AS g,
    labels.n AS n,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE labels.y0 - labels.x0 + 1 END) + labels.m0 AS DOUBLE PRECISION) AS p0,
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 29) - labels.x0 + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, labels.y0 - GREATEST(labels.x0, 30) + 1) END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
    CAST(labels.y4 - labels.x4 + 1 AS DOUBLE PRECISION) AS p4,
    CAST(GREATEST(0, LEAST(labels.y4, 0) - GREATEST(labels.x4, 0) + 1) AS DOUBLE PRECISION) AS s4_0,
    CAST(GREATEST(0, LEAST(labels.y4, 2) - GREATEST(labels.x4, 1) + 1) AS DOUBLE PRECISION) AS s4_1
  FROM
    labels
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s0_0 / spans.p0 + spans.s0_1 / spans.p0 * (spans.s4_0 / spans.p4) AS DOUBLE PRECISION) AS r0,
    CAST(spans.s0_1 / spans.p0 * (spans.s4_1 / spans.p4) AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s0_0 > 0 OR spans.s0_1 > 0 AND spans.s4_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s0_1 > 0 AND spans.s4_1 > 0 THEN
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
), sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE s."disease" IS NOT NULL) AS DOUBLE PRECISION) AS cw
  FROM
    "generalized" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
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
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
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
