WITH counted AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0
  FROM
    "pqt" AS q
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
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."age" BETWEEN 30 AND 60) AS DOUBLE PRECISION) AS a0_0,
    CAST(COUNT(*) FILTER (WHERE q."sex" IN ('F')) AS DOUBLE PRECISION) AS a1_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    tally.a0_0 * tally.a1_0 / tally.n AS e0,
    LEAST(tally.n, GREATEST(0, tally.a0_0 + tally.a1_0 - 1 * tally.n)) AS l0,
    LEAST(tally.n, LEAST(tally.a0_0, tally.a1_0)) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        (tally.a0_0 * tally.a0_0 - tally.a0_0) * (tally.a1_0 * tally.a1_0 - tally.a1_0) / (tally.n * (tally.n - 1))
      ELSE
        0
    END AS p0
  FROM
    tally
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IN ('urinary infection')), 0) AS cw
  FROM
    "pst" AS s
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
    SUM((CASE WHEN cells.n > 1 THEN (cells.n * cells.e0 - cells.v0 - cells.e0 * cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
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
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IN ('asthma', 'influenza')), 0) AS ce0w
  FROM
    "pst" AS s
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer;
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."sex" IN ('F')) AS DOUBLE PRECISION) AS a1_0,
    CAST(COUNT(*) FILTER (WHERE q."fitness" IN ('middle', 'high')) AS DOUBLE PRECISION) AS a4_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    tally.a1_0 * tally.a4_0 / tally.n AS e0,
    LEAST(tally.n, GREATEST(0, tally.a1_0 + tally.a4_0 - 1 * tally.n)) AS l0,
    LEAST(tally.n, LEAST(tally.a1_0, tally.a4_0)) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        (tally.a1_0 * tally.a1_0 - tally.a1_0) * (tally.a4_0 * tally.a4_0 - tally.a4_0) / (tally.n * (tally.n - 1))
      ELSE
        0
    END AS p0
  FROM
    tally
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IS NOT NULL), 0) AS ca
  FROM
    "pst" AS s
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
    SUM((CASE WHEN cells.n > 1 THEN (cells.n * cells.e0 - cells.v0 - cells.e0 * cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.ca * (cells.n - cells.ca) / cells.n / cells.n) + cells.v0 * (cells.ca / cells.n * (cells.ca / cells.n))) AS cv0a
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
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."age" IS NOT NULL) AS DOUBLE PRECISION) AS a0_0,
    CAST(COUNT(*) FILTER (WHERE q."occupation" IN ('builder', 'clerk', 'driver', 'electrician', 'engineer', 'farmer', 'homemaker', 'job seeker', 'nurse', 'programmer', 'retired', 'sales assistant', 'student', 'teacher') OR q."occupation" IS NULL) AS DOUBLE PRECISION) AS a2_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    tally.a2_0 AS e0,
    LEAST(tally.n, GREATEST(0, tally.a2_0 - 0 * tally.n)) AS l0,
    LEAST(tally.n, tally.a2_0) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        tally.a2_0 * tally.a2_0 - tally.a2_0
      ELSE
        0
    END AS p0,
    tally.a0_0 * tally.a2_0 / tally.n AS e1,
    LEAST(tally.n, GREATEST(0, tally.a0_0 + tally.a2_0 - 1 * tally.n)) AS l1,
    LEAST(tally.n, LEAST(tally.a0_0, tally.a2_0)) AS u1,
    CASE
      WHEN tally.n > 1 THEN
        (tally.a0_0 * tally.a0_0 - tally.a0_0) * (tally.a2_0 * tally.a2_0 - tally.a2_0) / (tally.n * (tally.n - 1))
      ELSE
        0
    END AS p1
  FROM
    tally
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0,
    odds.e1 AS e1,
    odds.l1 AS l1,
    odds.u1 AS u1,
    GREATEST(0, odds.p1 + odds.e1 - odds.e1 * odds.e1) AS v1
  FROM
    odds
  WHERE
    odds.u0 > 0
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
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."age" <= 49) AS DOUBLE PRECISION) AS a0_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), key_0 AS (
  SELECT
    q."group_id" AS g,
    q."sex" AS k,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS w
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id", q."sex"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    key_0.k AS k0,
    tally.a0_0 * key_0.w / tally.n AS e0,
    LEAST(tally.n, GREATEST(0, tally.a0_0 + key_0.w - 1 * tally.n)) AS l0,
    LEAST(tally.n, LEAST(tally.a0_0, key_0.w)) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        (tally.a0_0 * tally.a0_0 - tally.a0_0) * (key_0.w * key_0.w - key_0.w) / (tally.n * (tally.n - 1))
      ELSE
        0
    END AS p0
  FROM
    tally
    INNER JOIN key_0 ON key_0.g = tally.g
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.k0 AS k0,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
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
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."admission_date" >= DATE '2024-06-01') AS DOUBLE PRECISION) AS a3_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    tally.a3_0 AS e0,
    LEAST(tally.n, GREATEST(0, tally.a3_0 - 0 * tally.n)) AS l0,
    LEAST(tally.n, tally.a3_0) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        tally.a3_0 * tally.a3_0 - tally.a3_0
      ELSE
        0
    END AS p0
  FROM
    tally
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n
  FROM
    "pst" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(s."count" AS DOUBLE PRECISION) AS c
  FROM
    "pst" AS s
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
    SUM((CASE WHEN cells.n > 1 THEN (cells.n * cells.e0 - cells.v0 - cells.e0 * cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
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
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), key_0 AS (
  SELECT
    q."group_id" AS g,
    q."fitness" AS k,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS w
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id", q."fitness"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    key_0.k AS k0,
    key_0.w AS e0,
    LEAST(tally.n, GREATEST(0, key_0.w - 0 * tally.n)) AS l0,
    LEAST(tally.n, key_0.w) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        key_0.w * key_0.w - key_0.w
      ELSE
        0
    END AS p0
  FROM
    tally
    INNER JOIN key_0 ON key_0.g = tally.g
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.k0 AS k0,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n
  FROM
    "pst" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(s."count" AS DOUBLE PRECISION) AS c
  FROM
    "pst" AS s
  WHERE
    s."disease" IN ('alcohol dependence', 'appendicitis', 'asthma')
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
    SUM((CASE WHEN cells.n > 1 THEN (cells.n * cells.e0 - cells.v0 - cells.e0 * cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
  FROM
    cells
  GROUP BY
    cells.k0, cells.k1
)
SELECT
  answer.k0 AS "fitness",
  answer.k1 AS "disease",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer ORDER BY CAST(CASE WHEN answer.k0 = 'low' THEN 0 WHEN answer.k0 = 'middle' THEN 1 WHEN answer.k0 = 'high' THEN 2 END AS DOUBLE PRECISION) NULLS FIRST, answer.k1 COLLATE "C" NULLS FIRST;
WITH tally AS (
  SELECT
    q."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE q."age" <= 29) AS DOUBLE PRECISION) AS a0_0,
    CAST(COUNT(*) FILTER (WHERE q."age" >= 30 OR q."age" IS NULL) AS DOUBLE PRECISION) AS a0_1,
    CAST(COUNT(*) FILTER (WHERE q."fitness" IN ('low')) AS DOUBLE PRECISION) AS a4_0
  FROM
    "pqt" AS q
  GROUP BY
    q."group_id"
), odds AS (
  SELECT
    tally.g AS g,
    tally.n AS n,
    tally.a0_0 + tally.a0_1 * tally.a4_0 / tally.n AS e0,
    LEAST(tally.n, GREATEST(0, tally.a0_0 - 0 * tally.n) + GREATEST(0, tally.a0_1 + tally.a4_0 - 1 * tally.n)) AS l0,
    LEAST(tally.n, tally.a0_0 + LEAST(tally.a0_1, tally.a4_0)) AS u0,
    CASE
      WHEN tally.n > 1 THEN
        tally.a0_0 * tally.a0_0 - tally.a0_0 + 2 * ((tally.a0_0 * tally.a0_1 - 0) * (tally.n * tally.a4_0 - tally.a4_0) / (tally.n * (tally.n - 1))) + (tally.a0_1 * tally.a0_1 - tally.a0_1) * (tally.a4_0 * tally.a4_0 - tally.a4_0) / (tally.n * (tally.n - 1))
      ELSE
        0
    END AS p0
  FROM
    tally
), hits AS (
  SELECT
    odds.g AS g,
    odds.n AS n,
    odds.e0 AS e0,
    odds.l0 AS l0,
    odds.u0 AS u0,
    GREATEST(0, odds.p0 + odds.e0 - odds.e0 * odds.e0) AS v0
  FROM
    odds
  WHERE
    odds.u0 > 0
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IS NOT NULL), 0) AS cw
  FROM
    "pst" AS s
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
    SUM((CASE WHEN cells.n > 1 THEN (cells.n * cells.e0 - cells.v0 - cells.e0 * cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w
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
