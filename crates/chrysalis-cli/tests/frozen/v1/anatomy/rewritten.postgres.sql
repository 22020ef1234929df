WITH counted AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0
  FROM
    "qit" AS q
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
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "qit" AS q
  WHERE
    q."age" BETWEEN 30 AND 60 AND q."sex" IN ('F')
  GROUP BY
    q."group_id"
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IN ('urinary infection')), 0) AS cw
  FROM
    "st" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.e0 AS e0,
    sizes.cw AS cw,
    GREATEST(0, hits.e0 + sizes.cw - sizes.n) AS lo0w,
    LEAST(hits.e0, sizes.cw) AS hi0w
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.e0, sizes.cw) > 0
), merged AS (
  SELECT
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n)) AS cv0w
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
    "st" AS s
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer;
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "qit" AS q
  WHERE
    q."sex" IN ('F') AND q."fitness" IN ('middle', 'high')
  GROUP BY
    q."group_id"
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IS NOT NULL), 0) AS ca
  FROM
    "st" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.e0 AS e0,
    sizes.ca AS ca,
    GREATEST(0, hits.e0 + sizes.ca - sizes.n) AS lo0a,
    LEAST(hits.e0, sizes.ca) AS hi0a
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.e0 > 0
), merged AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.e0 * (cells.ca / cells.n)) AS ce0a,
    SUM(cells.lo0a) AS cl0a,
    SUM(cells.hi0a) AS cu0a,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.ca * (cells.n - cells.ca) / cells.n / cells.n)) AS cv0a
  FROM
    cells
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error",
  CAST(COALESCE(answer.ce0a, 0) AS DOUBLE PRECISION) AS "count_disease_estimate",
  CAST(COALESCE(answer.cl0a, 0) AS DOUBLE PRECISION) AS "count_disease_lower",
  CAST(COALESCE(answer.cu0a, 0) AS DOUBLE PRECISION) AS "count_disease_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0a, 0))) AS DOUBLE PRECISION) AS "count_disease_std_error"
FROM
  merged AS answer;
WITH counted AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    CAST(COUNT(*) FILTER (WHERE (q."occupation" IN ('builder', 'clerk', 'driver', 'electrician', 'engineer', 'farmer', 'homemaker', 'job seeker', 'nurse', 'programmer', 'retired', 'sales assistant', 'student', 'teacher') OR q."occupation" IS NULL) AND q."age" IS NOT NULL) AS DOUBLE PRECISION) AS e1
  FROM
    "qit" AS q
  WHERE
    q."occupation" IN ('builder', 'clerk', 'driver', 'electrician', 'engineer', 'farmer', 'homemaker', 'job seeker', 'nurse', 'programmer', 'retired', 'sales assistant', 'student', 'teacher') OR q."occupation" IS NULL
), merged AS (
  SELECT
    counted.e0 AS ce0w,
    counted.e1 AS ce1w
  FROM
    counted
)
SELECT
  CAST(COALESCE(answer.ce1w, 0) AS DOUBLE PRECISION) AS "count_age_estimate",
  CAST(COALESCE(answer.ce1w, 0) AS DOUBLE PRECISION) AS "count_age_lower",
  CAST(COALESCE(answer.ce1w, 0) AS DOUBLE PRECISION) AS "count_age_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_age_std_error"
FROM
  merged AS answer;
WITH counted AS (
  SELECT
    q."sex" AS k0,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0
  FROM
    "qit" AS q
  WHERE
    q."age" <= 49
  GROUP BY
    q."sex"
), merged AS (
  SELECT
    counted.k0 AS k0,
    counted.e0 AS ce0w
  FROM
    counted
)
SELECT
  answer.k0 AS "sex",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error"
FROM
  merged AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST;
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "qit" AS q
  WHERE
    q."admission_date" >= DATE '2024-06-01'
  GROUP BY
    q."group_id"
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n
  FROM
    "st" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(s."count" AS DOUBLE PRECISION) AS c
  FROM
    "st" AS s
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
    sizes.cw AS cw,
    GREATEST(0, hits.e0 + sizes.cw - sizes.n) AS lo0w,
    LEAST(hits.e0, sizes.cw) AS hi0w
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.e0, sizes.cw) > 0
), merged AS (
  SELECT
    cells.k0 AS k0,
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n)) AS cv0w
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
WITH hits AS (
  SELECT
    q."fitness" AS k0,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "qit" AS q
  GROUP BY
    q."fitness", q."group_id"
), group_sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n
  FROM
    "st" AS s
  GROUP BY
    s."group_id"
), value_sizes AS (
  SELECT
    s."group_id" AS g,
    s."disease" AS k,
    CAST(s."count" AS DOUBLE PRECISION) AS c
  FROM
    "st" AS s
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
    sizes.cw AS cw,
    GREATEST(0, hits.e0 + sizes.cw - sizes.n) AS lo0w,
    LEAST(hits.e0, sizes.cw) AS hi0w
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.e0, sizes.cw) > 0
), merged AS (
  SELECT
    cells.k0 AS k0,
    cells.k1 AS k1,
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n)) AS cv0w
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
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "qit" AS q
  WHERE
    q."age" <= 29 OR q."fitness" IN ('low')
  GROUP BY
    q."group_id"
), sizes AS (
  SELECT
    s."group_id" AS g,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)), 0) AS n,
    COALESCE(SUM(CAST(s."count" AS DOUBLE PRECISION)) FILTER (WHERE s."disease" IS NOT NULL), 0) AS cw
  FROM
    "st" AS s
    INNER JOIN hits ON hits.g = s."group_id"
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.e0 AS e0,
    sizes.cw AS cw,
    GREATEST(0, hits.e0 + sizes.cw - sizes.n) AS lo0w,
    LEAST(hits.e0, sizes.cw) AS hi0w
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.e0, sizes.cw) > 0
), merged AS (
  SELECT
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n)) AS cv0w
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
