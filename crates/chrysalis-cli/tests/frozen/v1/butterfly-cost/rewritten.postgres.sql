WITH merged AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS ce0w,
    SUM(CAST(s."cost" AS DOUBLE PRECISION)) AS se,
    SUM(CAST(s."cost" AS DOUBLE PRECISION)) AS sl,
    SUM(CAST(s."cost" AS DOUBLE PRECISION)) AS su,
    CAST(0 AS DOUBLE PRECISION) AS sv,
    MIN(CAST(s."cost" AS DOUBLE PRECISION)) AS ne,
    MIN(CAST(s."cost" AS DOUBLE PRECISION)) AS nl,
    MIN(CAST(s."cost" AS DOUBLE PRECISION)) AS nu,
    CAST(0 AS DOUBLE PRECISION) AS nv,
    MAX(CAST(s."cost" AS DOUBLE PRECISION)) AS xe,
    MAX(CAST(s."cost" AS DOUBLE PRECISION)) AS xl,
    MAX(CAST(s."cost" AS DOUBLE PRECISION)) AS xu,
    CAST(0 AS DOUBLE PRECISION) AS xv
  FROM
    "generalized" AS s
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_all_std_error",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.se END AS DOUBLE PRECISION) AS "sum_cost_estimate",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.sl END AS DOUBLE PRECISION) AS "sum_cost_lower",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.su END AS DOUBLE PRECISION) AS "sum_cost_upper",
  CAST(CASE WHEN answer.ce0w > 0 THEN SQRT(GREATEST(0, answer.sv)) END AS DOUBLE PRECISION) AS "sum_cost_std_error",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.se / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_estimate",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.sl / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_lower",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.su / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_upper",
  CAST(CASE WHEN answer.ce0w > 0 THEN SQRT(GREATEST(0, answer.sv)) / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_std_error",
  CAST(CASE WHEN answer.ce0w > 0 THEN CASE WHEN answer.ne IS NOT NULL THEN GREATEST(answer.nl, LEAST(answer.ne, answer.nu)) END END AS DOUBLE PRECISION) AS "min_cost_estimate",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.nl END AS DOUBLE PRECISION) AS "min_cost_lower",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.nu END AS DOUBLE PRECISION) AS "min_cost_upper",
  CAST(CASE WHEN answer.ce0w > 0 THEN CASE WHEN answer.ne IS NOT NULL THEN SQRT(GREATEST(0, COALESCE(answer.nv, 0))) END END AS DOUBLE PRECISION) AS "min_cost_std_error",
  CAST(CASE WHEN answer.ce0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN GREATEST(answer.xl, LEAST(answer.xe, answer.xu)) END END AS DOUBLE PRECISION) AS "max_cost_estimate",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.xl END AS DOUBLE PRECISION) AS "max_cost_lower",
  CAST(CASE WHEN answer.ce0w > 0 THEN answer.xu END AS DOUBLE PRECISION) AS "max_cost_upper",
  CAST(CASE WHEN answer.ce0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN SQRT(GREATEST(0, COALESCE(answer.xv, 0))) END END AS DOUBLE PRECISION) AS "max_cost_std_error"
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
    COALESCE(SUM(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS sy,
    COALESCE(VAR_POP(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS vy
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
    sizes.sy AS sy,
    sizes.vy * sizes.n AS dd
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.u0 > 0
), ratios AS (
  SELECT
    SUM(cells.e0 * cells.sy / cells.n) OVER () / NULLIF(SUM(cells.e0 * cells.n / cells.n) OVER (), 0) AS r,
    cells.n AS n,
    cells.sy AS sy,
    cells.dd AS dd,
    cells.e0 AS e0,
    cells.l0 AS l0,
    cells.u0 AS u0,
    cells.v0 AS v0
  FROM
    cells
), pool AS (
  SELECT
    CAST(s."cost" AS DOUBLE PRECISION) AS y,
    CAST(1 AS DOUBLE PRECISION) AS m,
    CAST(ROW_NUMBER() OVER (PARTITION BY s."group_id" ORDER BY s."cost") AS DOUBLE PRECISION) AS upto,
    cells.n AS c,
    cells.l0 AS lo,
    cells.u0 AS hi,
    cells.n AS n,
    cells.e0 AS e,
    0 AS neg,
    cells.n AS pos
  FROM
    cells
    INNER JOIN "generalized" AS s ON s."group_id" = cells.g
), steps AS (
  SELECT
    pool.y AS y,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS sl,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS cl,
    SUM(GREATEST(0, LEAST(pool.upto, pool.hi) - GREATEST(pool.upto - pool.m, pool.lo))) AS ml,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS su,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS cu,
    SUM(GREATEST(0, LEAST(pool.c - pool.upto + pool.m, pool.hi) - GREATEST(pool.c - pool.upto, pool.lo))) AS mu
  FROM
    pool
  GROUP BY
    pool.y
), averages AS (
  SELECT
    (SUM(steps.sl) OVER () + SUM(steps.y * steps.ml) OVER (ORDER BY steps.y)) / NULLIF(SUM(steps.cl) OVER () + SUM(steps.ml) OVER (ORDER BY steps.y), 0) AS al,
    SUM(steps.sl) OVER () / NULLIF(SUM(steps.cl) OVER (), 0) AS bl,
    (SUM(steps.su) OVER () + SUM(steps.y * steps.mu) OVER (ORDER BY steps.y DESC)) / NULLIF(SUM(steps.cu) OVER () + SUM(steps.mu) OVER (ORDER BY steps.y DESC), 0) AS au,
    SUM(steps.su) OVER () / NULLIF(SUM(steps.cu) OVER (), 0) AS bu
  FROM
    steps
), parts AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    SUM(cells.e0 * cells.sy / cells.n) AS se,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.dd / cells.n) + cells.v0 * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n))) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS sl,
    CAST(NULL AS DOUBLE PRECISION) AS su,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    cells
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.dd / cells.n) + cells.v0 * (cells.n * (cells.sy / NULLIF(cells.n, 0) - cells.r) / cells.n * (cells.n * (cells.sy / NULLIF(cells.n, 0) - cells.r) / cells.n))) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS sl,
    CAST(NULL AS DOUBLE PRECISION) AS su,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    ratios AS cells
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    SUM(pool.y * GREATEST(0, LEAST(GREATEST(pool.lo, LEAST(pool.neg, pool.hi)) - (pool.upto - pool.m), pool.m))) AS sl,
    SUM(pool.y * GREATEST(0, LEAST(GREATEST(pool.lo, LEAST(pool.pos, pool.hi)) - (pool.c - pool.upto), pool.m))) AS su,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    pool
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS sl,
    CAST(NULL AS DOUBLE PRECISION) AS su,
    CASE
      WHEN COALESCE(MIN(averages.al), MIN(averages.bl)) < COALESCE(MIN(averages.bl), MIN(averages.al)) THEN
        COALESCE(MIN(averages.al), MIN(averages.bl))
      ELSE
        COALESCE(MIN(averages.bl), MIN(averages.al))
    END AS al,
    CASE
      WHEN COALESCE(MAX(averages.au), MAX(averages.bu)) > COALESCE(MAX(averages.bu), MAX(averages.au)) THEN
        COALESCE(MAX(averages.au), MAX(averages.bu))
      ELSE
        COALESCE(MAX(averages.bu), MAX(averages.au))
    END AS au
  FROM
    averages
), merged AS (
  SELECT
    MAX(parts.ce0w) AS ce0w,
    MAX(parts.cl0w) AS cl0w,
    MAX(parts.cu0w) AS cu0w,
    MAX(parts.cv0w) AS cv0w,
    MAX(parts.se) AS se,
    MAX(parts.sv) AS sv,
    MAX(parts.av) AS av,
    MAX(parts.sl) AS sl,
    MAX(parts.su) AS su,
    MAX(parts.al) AS al,
    MAX(parts.au) AS au
  FROM
    parts
)
SELECT
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.se END AS DOUBLE PRECISION) AS "sum_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.sl END AS DOUBLE PRECISION) AS "sum_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.su END AS DOUBLE PRECISION) AS "sum_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN SQRT(GREATEST(0, answer.sv)) END AS DOUBLE PRECISION) AS "sum_cost_std_error",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.se / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.al END AS DOUBLE PRECISION) AS "avg_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.au END AS DOUBLE PRECISION) AS "avg_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN NULLIF(answer.ce0w, 0) IS NULL THEN NULL ELSE SQRT(GREATEST(0, COALESCE(answer.av, 0))) / NULLIF(answer.ce0w, 0) END END AS DOUBLE PRECISION) AS "avg_cost_std_error"
FROM
  merged AS answer;
WITH labels AS (
  SELECT
    t."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CASE
      WHEN MIN(t."fitness_min") IS NULL THEN
        1
      ELSE
        0
    END AS m2,
    COALESCE(CAST(CASE WHEN MIN(t."fitness_min") = 'low' THEN 0 WHEN MIN(t."fitness_min") = 'middle' THEN 1 WHEN MIN(t."fitness_min") = 'high' THEN 2 END AS DOUBLE PRECISION), LEAST(0e0, CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION))) AS x2,
    CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION) AS y2,
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
    CAST(labels.y2 - labels.x2 + 1 AS DOUBLE PRECISION) AS p2,
    CAST(GREATEST(0, LEAST(labels.y2, 2) - GREATEST(labels.x2, 1) + 1) AS DOUBLE PRECISION) AS s2_0,
    CAST(GREATEST(0, LEAST(labels.y2, 0) - GREATEST(labels.x2, 0) + 1) AS DOUBLE PRECISION) AS s2_1,
    CAST(labels.y3 - labels.x3 + 1 AS DOUBLE PRECISION) AS p3,
    CAST(GREATEST(0, LEAST(labels.y3, 19966) - labels.x3 + 1) AS DOUBLE PRECISION) AS s3_0,
    CAST(GREATEST(0, labels.y3 - GREATEST(labels.x3, 19967) + 1) AS DOUBLE PRECISION) AS s3_1
  FROM
    labels
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s2_0 / spans.p2 * (spans.s3_0 / spans.p3) AS DOUBLE PRECISION) AS r0,
    CAST(spans.s2_1 / spans.p2 + spans.s2_0 / spans.p2 * (spans.s3_1 / spans.p3) AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s2_0 > 0 AND spans.s3_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s2_1 > 0 OR spans.s2_0 > 0 AND spans.s3_1 > 0 THEN
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
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n
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
    hits.v0 AS v0
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.u0 > 0
), pool AS (
  SELECT
    CAST(s."cost" AS DOUBLE PRECISION) AS y,
    CAST(1 AS DOUBLE PRECISION) AS m,
    CAST(ROW_NUMBER() OVER (PARTITION BY s."group_id" ORDER BY s."cost") AS DOUBLE PRECISION) AS upto,
    cells.n AS c,
    cells.l0 AS lo,
    cells.u0 AS hi,
    cells.n AS n,
    cells.e0 AS e
  FROM
    cells
    INNER JOIN "generalized" AS s ON s."group_id" = cells.g
), odds_n AS (
  SELECT
    pool.y AS y,
    GREATEST(-600, SUM(LN(GREATEST(1e-300, 1 - pool.e / (pool.n - pool.upto + 1))))) AS s
  FROM
    pool
  GROUP BY
    pool.y
), chances_n AS (
  SELECT
    odds_n.y AS y,
    EXP(GREATEST(-300, SUM(odds_n.s) OVER (ORDER BY odds_n.y) - odds_n.s)) - EXP(GREATEST(-300, SUM(odds_n.s) OVER (ORDER BY odds_n.y))) AS p
  FROM
    odds_n
), expected_n AS (
  SELECT
    chances_n.y AS y,
    chances_n.p AS p,
    SUM(chances_n.y * chances_n.p) OVER () / NULLIF(SUM(chances_n.p) OVER (), 0) AS mean
  FROM
    chances_n
), odds_x AS (
  SELECT
    pool.y AS y,
    GREATEST(-600, SUM(LN(GREATEST(1e-300, 1 - pool.e / (pool.n - (pool.c - pool.upto + 1) + 1))))) AS s
  FROM
    pool
  GROUP BY
    pool.y
), chances_x AS (
  SELECT
    odds_x.y AS y,
    EXP(GREATEST(-300, SUM(odds_x.s) OVER (ORDER BY odds_x.y DESC) - odds_x.s)) - EXP(GREATEST(-300, SUM(odds_x.s) OVER (ORDER BY odds_x.y DESC))) AS p
  FROM
    odds_x
), expected_x AS (
  SELECT
    chances_x.y AS y,
    chances_x.p AS p,
    SUM(chances_x.y * chances_x.p) OVER () / NULLIF(SUM(chances_x.p) OVER (), 0) AS mean
  FROM
    chances_x
), parts AS (
  SELECT
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS nl,
    CAST(NULL AS DOUBLE PRECISION) AS nu,
    CAST(NULL AS DOUBLE PRECISION) AS xl,
    CAST(NULL AS DOUBLE PRECISION) AS xu,
    CAST(NULL AS DOUBLE PRECISION) AS ne,
    CAST(NULL AS DOUBLE PRECISION) AS nv,
    CAST(NULL AS DOUBLE PRECISION) AS xe,
    CAST(NULL AS DOUBLE PRECISION) AS xv
  FROM
    cells
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    MIN(pool.y) FILTER (WHERE pool.hi >= 1) AS nl,
    COALESCE(MIN(pool.y) FILTER (WHERE pool.lo >= 1 AND pool.upto > pool.c - pool.lo), MAX(pool.y) FILTER (WHERE pool.hi >= 1)) AS nu,
    COALESCE(MAX(pool.y) FILTER (WHERE pool.lo >= 1 AND pool.upto - pool.m < pool.lo), MIN(pool.y) FILTER (WHERE pool.hi >= 1)) AS xl,
    MAX(pool.y) FILTER (WHERE pool.hi >= 1) AS xu,
    CAST(NULL AS DOUBLE PRECISION) AS ne,
    CAST(NULL AS DOUBLE PRECISION) AS nv,
    CAST(NULL AS DOUBLE PRECISION) AS xe,
    CAST(NULL AS DOUBLE PRECISION) AS xv
  FROM
    pool
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS nl,
    CAST(NULL AS DOUBLE PRECISION) AS nu,
    CAST(NULL AS DOUBLE PRECISION) AS xl,
    CAST(NULL AS DOUBLE PRECISION) AS xu,
    MAX(expected_n.mean) AS ne,
    SUM(expected_n.p * ((expected_n.y - expected_n.mean) * (expected_n.y - expected_n.mean))) / NULLIF(SUM(expected_n.p), 0) AS nv,
    CAST(NULL AS DOUBLE PRECISION) AS xe,
    CAST(NULL AS DOUBLE PRECISION) AS xv
  FROM
    expected_n
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS nl,
    CAST(NULL AS DOUBLE PRECISION) AS nu,
    CAST(NULL AS DOUBLE PRECISION) AS xl,
    CAST(NULL AS DOUBLE PRECISION) AS xu,
    CAST(NULL AS DOUBLE PRECISION) AS ne,
    CAST(NULL AS DOUBLE PRECISION) AS nv,
    MAX(expected_x.mean) AS xe,
    SUM(expected_x.p * ((expected_x.y - expected_x.mean) * (expected_x.y - expected_x.mean))) / NULLIF(SUM(expected_x.p), 0) AS xv
  FROM
    expected_x
), merged AS (
  SELECT
    MAX(parts.ce0w) AS ce0w,
    MAX(parts.cl0w) AS cl0w,
    MAX(parts.cu0w) AS cu0w,
    MAX(parts.cv0w) AS cv0w,
    MAX(parts.nl) AS nl,
    MAX(parts.nu) AS nu,
    MAX(parts.xl) AS xl,
    MAX(parts.xu) AS xu,
    MAX(parts.ne) AS ne,
    MAX(parts.nv) AS nv,
    MAX(parts.xe) AS xe,
    MAX(parts.xv) AS xv
  FROM
    parts
)
SELECT
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.ne IS NOT NULL THEN GREATEST(answer.nl, LEAST(answer.ne, answer.nu)) END END AS DOUBLE PRECISION) AS "min_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.nl END AS DOUBLE PRECISION) AS "min_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.nu END AS DOUBLE PRECISION) AS "min_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.ne IS NOT NULL THEN SQRT(GREATEST(0, COALESCE(answer.nv, 0))) END END AS DOUBLE PRECISION) AS "min_cost_std_error",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN GREATEST(answer.xl, LEAST(answer.xe, answer.xu)) END END AS DOUBLE PRECISION) AS "max_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.xl END AS DOUBLE PRECISION) AS "max_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.xu END AS DOUBLE PRECISION) AS "max_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN SQRT(GREATEST(0, COALESCE(answer.xv, 0))) END END AS DOUBLE PRECISION) AS "max_cost_std_error",
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_cost_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_cost_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_cost_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_cost_std_error"
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
    CAST(COUNT(*) AS DOUBLE PRECISION) AS p,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('M')) AS DOUBLE PRECISION) AS s0,
    CAST(COUNT(*) FILTER (WHERE m."value" IN ('F')) AS DOUBLE PRECISION) AS s1
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
    set_1.s1 AS s1_1
  FROM
    labels
    INNER JOIN set_1 ON set_1.t = labels.t1
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    CAST(spans.s1_0 / spans.p1 AS DOUBLE PRECISION) AS r0,
    CAST(spans.s1_1 / spans.p1 AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s1_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s1_1 > 0 THEN
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
    CAST(COUNT(*) FILTER (WHERE s."cost" >= 5001) AS DOUBLE PRECISION) AS cw,
    COALESCE(SUM(CAST(s."cost" AS DOUBLE PRECISION)) FILTER (WHERE s."cost" >= 5001), 0) AS sy,
    COALESCE(VAR_POP(CAST(s."cost" AS DOUBLE PRECISION)) FILTER (WHERE s."cost" >= 5001), 0) AS vy
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
    LEAST(hits.u0, sizes.cw) AS hi0w,
    sizes.sy AS sy,
    sizes.vy * sizes.cw AS dd
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.u0, sizes.cw) > 0
), ratios AS (
  SELECT
    SUM(cells.e0 * cells.sy / cells.n) OVER () / NULLIF(SUM(cells.e0 * cells.cw / cells.n) OVER (), 0) AS r,
    cells.n AS n,
    cells.sy AS sy,
    cells.dd AS dd,
    cells.e0 AS e0,
    cells.l0 AS l0,
    cells.u0 AS u0,
    cells.v0 AS v0,
    cells.cw AS cw
  FROM
    cells
), pool AS (
  SELECT
    CAST(s."cost" AS DOUBLE PRECISION) AS y,
    CAST(1 AS DOUBLE PRECISION) AS m,
    CAST(ROW_NUMBER() OVER (PARTITION BY s."group_id" ORDER BY s."cost") AS DOUBLE PRECISION) AS upto,
    cells.cw AS c,
    cells.lo0w AS lo,
    cells.hi0w AS hi,
    cells.n AS n,
    cells.e0 AS e
  FROM
    cells
    INNER JOIN "generalized" AS s ON s."group_id" = cells.g
  WHERE
    s."cost" >= 5001
), steps AS (
  SELECT
    pool.y AS y,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS sl,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS cl,
    SUM(GREATEST(0, LEAST(pool.upto, pool.hi) - GREATEST(pool.upto - pool.m, pool.lo))) AS ml,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS su,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS cu,
    SUM(GREATEST(0, LEAST(pool.c - pool.upto + pool.m, pool.hi) - GREATEST(pool.c - pool.upto, pool.lo))) AS mu
  FROM
    pool
  GROUP BY
    pool.y
), averages AS (
  SELECT
    (SUM(steps.sl) OVER () + SUM(steps.y * steps.ml) OVER (ORDER BY steps.y)) / NULLIF(SUM(steps.cl) OVER () + SUM(steps.ml) OVER (ORDER BY steps.y), 0) AS al,
    SUM(steps.sl) OVER () / NULLIF(SUM(steps.cl) OVER (), 0) AS bl,
    (SUM(steps.su) OVER () + SUM(steps.y * steps.mu) OVER (ORDER BY steps.y DESC)) / NULLIF(SUM(steps.cu) OVER () + SUM(steps.mu) OVER (ORDER BY steps.y DESC), 0) AS au,
    SUM(steps.su) OVER () / NULLIF(SUM(steps.cu) OVER (), 0) AS bu
  FROM
    steps
), parts AS (
  SELECT
    SUM(cells.e0 * (cells.cw / cells.n)) AS ce0w,
    SUM(cells.lo0w) AS cl0w,
    SUM(cells.hi0w) AS cu0w,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n) + cells.v0 * (cells.cw / cells.n * (cells.cw / cells.n))) AS cv0w,
    SUM(cells.e0 * cells.sy / cells.n) AS se,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * ((cells.dd + cells.cw * (cells.sy / NULLIF(cells.cw, 0) * (cells.sy / NULLIF(cells.cw, 0))) * (cells.n - cells.cw) / cells.n) / cells.n) + cells.v0 * (cells.cw * (cells.sy / NULLIF(cells.cw, 0)) / cells.n * (cells.cw * (cells.sy / NULLIF(cells.cw, 0)) / cells.n))) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    cells
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * ((cells.dd + cells.cw * ((cells.sy / NULLIF(cells.cw, 0) - cells.r) * (cells.sy / NULLIF(cells.cw, 0) - cells.r)) * (cells.n - cells.cw) / cells.n) / cells.n) + cells.v0 * (cells.cw * (cells.sy / NULLIF(cells.cw, 0) - cells.r) / cells.n * (cells.cw * (cells.sy / NULLIF(cells.cw, 0) - cells.r) / cells.n))) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    ratios AS cells
  UNION ALL
  SELECT
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CASE
      WHEN COALESCE(MIN(averages.al), MIN(averages.bl)) < COALESCE(MIN(averages.bl), MIN(averages.al)) THEN
        COALESCE(MIN(averages.al), MIN(averages.bl))
      ELSE
        COALESCE(MIN(averages.bl), MIN(averages.al))
    END AS al,
    CASE
      WHEN COALESCE(MAX(averages.au), MAX(averages.bu)) > COALESCE(MAX(averages.bu), MAX(averages.au)) THEN
        COALESCE(MAX(averages.au), MAX(averages.bu))
      ELSE
        COALESCE(MAX(averages.bu), MAX(averages.au))
    END AS au
  FROM
    averages
), merged AS (
  SELECT
    MAX(parts.ce0w) AS ce0w,
    MAX(parts.cl0w) AS cl0w,
    MAX(parts.cu0w) AS cu0w,
    MAX(parts.cv0w) AS cv0w,
    MAX(parts.se) AS se,
    MAX(parts.sv) AS sv,
    MAX(parts.av) AS av,
    MAX(parts.al) AS al,
    MAX(parts.au) AS au
  FROM
    parts
)
SELECT
  CAST(COALESCE(answer.ce0w, 0) AS DOUBLE PRECISION) AS "count_all_estimate",
  CAST(COALESCE(answer.cl0w, 0) AS DOUBLE PRECISION) AS "count_all_lower",
  CAST(COALESCE(answer.cu0w, 0) AS DOUBLE PRECISION) AS "count_all_upper",
  CAST(SQRT(GREATEST(0, COALESCE(answer.cv0w, 0))) AS DOUBLE PRECISION) AS "count_all_std_error",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.se / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.al END AS DOUBLE PRECISION) AS "avg_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.au END AS DOUBLE PRECISION) AS "avg_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN NULLIF(answer.ce0w, 0) IS NULL THEN NULL ELSE SQRT(GREATEST(0, COALESCE(answer.av, 0))) / NULLIF(answer.ce0w, 0) END END AS DOUBLE PRECISION) AS "avg_cost_std_error"
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
    COALESCE(SUM(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS sy,
    COALESCE(VAR_POP(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS vy
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
    sizes.sy AS sy,
    sizes.vy * sizes.n AS dd
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.u0 > 0
), ranked AS (
  SELECT
    s."group_id" AS g,
    CAST(s."cost" AS DOUBLE PRECISION) AS y,
    CAST(1 AS DOUBLE PRECISION) AS m,
    CAST(ROW_NUMBER() OVER (PARTITION BY s."group_id" ORDER BY s."cost") AS DOUBLE PRECISION) AS upto
  FROM
    "generalized" AS s
), pool AS (
  SELECT
    ranked.y AS y,
    ranked.m AS m,
    ranked.upto AS upto,
    cells.k0 AS k0,
    cells.n AS c,
    cells.l0 AS lo,
    cells.u0 AS hi,
    cells.n AS n,
    cells.e0 AS e,
    0 AS neg,
    cells.n AS pos
  FROM
    ranked
    INNER JOIN cells ON cells.g = ranked.g
), odds_x AS (
  SELECT
    pool.k0 AS k0,
    pool.y AS y,
    GREATEST(-600, SUM(LN(GREATEST(1e-300, 1 - pool.e / (pool.n - (pool.c - pool.upto + 1) + 1))))) AS s
  FROM
    pool
  GROUP BY
    pool.k0, pool.y
), chances_x AS (
  SELECT
    odds_x.k0 AS k0,
    odds_x.y AS y,
    EXP(GREATEST(-300, SUM(odds_x.s) OVER (PARTITION BY odds_x.k0 ORDER BY odds_x.y DESC) - odds_x.s)) - EXP(GREATEST(-300, SUM(odds_x.s) OVER (PARTITION BY odds_x.k0 ORDER BY odds_x.y DESC))) AS p
  FROM
    odds_x
), expected_x AS (
  SELECT
    chances_x.k0 AS k0,
    chances_x.y AS y,
    chances_x.p AS p,
    SUM(chances_x.y * chances_x.p) OVER (PARTITION BY chances_x.k0) / NULLIF(SUM(chances_x.p) OVER (PARTITION BY chances_x.k0), 0) AS mean
  FROM
    chances_x
), parts AS (
  SELECT
    cells.k0 AS k0,
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    SUM(cells.e0 * cells.sy / cells.n) AS se,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.dd / cells.n) + cells.v0 * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n))) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS sl,
    CAST(NULL AS DOUBLE PRECISION) AS su,
    CAST(NULL AS DOUBLE PRECISION) AS nl,
    CAST(NULL AS DOUBLE PRECISION) AS nu,
    CAST(NULL AS DOUBLE PRECISION) AS xl,
    CAST(NULL AS DOUBLE PRECISION) AS xu,
    CAST(NULL AS DOUBLE PRECISION) AS xe,
    CAST(NULL AS DOUBLE PRECISION) AS xv
  FROM
    cells
  GROUP BY
    cells.k0
  UNION ALL
  SELECT
    pool.k0 AS k0,
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    SUM(pool.y * GREATEST(0, LEAST(GREATEST(pool.lo, LEAST(pool.neg, pool.hi)) - (pool.upto - pool.m), pool.m))) AS sl,
    SUM(pool.y * GREATEST(0, LEAST(GREATEST(pool.lo, LEAST(pool.pos, pool.hi)) - (pool.c - pool.upto), pool.m))) AS su,
    MIN(pool.y) FILTER (WHERE pool.hi >= 1) AS nl,
    COALESCE(MIN(pool.y) FILTER (WHERE pool.lo >= 1 AND pool.upto > pool.c - pool.lo), MAX(pool.y) FILTER (WHERE pool.hi >= 1)) AS nu,
    COALESCE(MAX(pool.y) FILTER (WHERE pool.lo >= 1 AND pool.upto - pool.m < pool.lo), MIN(pool.y) FILTER (WHERE pool.hi >= 1)) AS xl,
    MAX(pool.y) FILTER (WHERE pool.hi >= 1) AS xu,
    CAST(NULL AS DOUBLE PRECISION) AS xe,
    CAST(NULL AS DOUBLE PRECISION) AS xv
  FROM
    pool
  GROUP BY
    pool.k0
  UNION ALL
  SELECT
    expected_x.k0 AS k0,
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS sl,
    CAST(NULL AS DOUBLE PRECISION) AS su,
    CAST(NULL AS DOUBLE PRECISION) AS nl,
    CAST(NULL AS DOUBLE PRECISION) AS nu,
    CAST(NULL AS DOUBLE PRECISION) AS xl,
    CAST(NULL AS DOUBLE PRECISION) AS xu,
    MAX(expected_x.mean) AS xe,
    SUM(expected_x.p * ((expected_x.y - expected_x.mean) * (expected_x.y - expected_x.mean))) / NULLIF(SUM(expected_x.p), 0) AS xv
  FROM
    expected_x
  GROUP BY
    expected_x.k0
), merged AS (
  SELECT
    parts.k0 AS k0,
    MAX(parts.ce0w) AS ce0w,
    MAX(parts.cl0w) AS cl0w,
    MAX(parts.cu0w) AS cu0w,
    MAX(parts.cv0w) AS cv0w,
    MAX(parts.se) AS se,
    MAX(parts.sv) AS sv,
    MAX(parts.sl) AS sl,
    MAX(parts.su) AS su,
    MAX(parts.nl) AS nl,
    MAX(parts.nu) AS nu,
    MAX(parts.xl) AS xl,
    MAX(parts.xu) AS xu,
    MAX(parts.xe) AS xe,
    MAX(parts.xv) AS xv
  FROM
    parts
  GROUP BY
    parts.k0
)
SELECT
  answer.k0 AS "sex",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.se END AS DOUBLE PRECISION) AS "sum_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.sl END AS DOUBLE PRECISION) AS "sum_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.su END AS DOUBLE PRECISION) AS "sum_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN SQRT(GREATEST(0, answer.sv)) END AS DOUBLE PRECISION) AS "sum_cost_std_error",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN GREATEST(answer.xl, LEAST(answer.xe, answer.xu)) END END AS DOUBLE PRECISION) AS "max_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.xl END AS DOUBLE PRECISION) AS "max_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.xu END AS DOUBLE PRECISION) AS "max_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN answer.xe IS NOT NULL THEN SQRT(GREATEST(0, COALESCE(answer.xv, 0))) END END AS DOUBLE PRECISION) AS "max_cost_std_error"
FROM
  merged AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST;
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
    COALESCE(MIN(t."sex"), '') AS t1,
    CASE
      WHEN MIN(t."fitness_min") IS NULL THEN
        1
      ELSE
        0
    END AS m2,
    COALESCE(CAST(CASE WHEN MIN(t."fitness_min") = 'low' THEN 0 WHEN MIN(t."fitness_min") = 'middle' THEN 1 WHEN MIN(t."fitness_min") = 'high' THEN 2 END AS DOUBLE PRECISION), LEAST(0e0, CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION))) AS x2,
    CAST(CASE WHEN MIN(t."fitness_max") = 'low' THEN 0 WHEN MIN(t."fitness_max") = 'middle' THEN 1 WHEN MIN(t."fitness_max") = 'high' THEN 2 END AS DOUBLE PRECISION) AS y2
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
    CAST(CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, labels.y0 - GREATEST(labels.x0, 41) + 1) END AS DOUBLE PRECISION) AS s0_0,
    CAST((CASE WHEN labels.y0 IS NULL THEN 0 ELSE GREATEST(0, LEAST(labels.y0, 40) - labels.x0 + 1) END) + labels.m0 AS DOUBLE PRECISION) AS s0_1,
    set_1.p AS p1,
    CAST(labels.y2 - labels.x2 + 1 AS DOUBLE PRECISION) AS p2
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
), key_1_series_digits AS (
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
), key_1_series AS (
  SELECT
    d0.i AS i
  FROM
    key_1_series_digits AS d0
  WHERE
    d0.i < 3
), key_1 AS (
  SELECT
    labels.g AS g,
    CAST(0 + key_1_series.i AS DOUBLE PRECISION) AS k
  FROM
    labels
    INNER JOIN key_1_series ON labels.x2 <= CAST(0 + key_1_series.i AS DOUBLE PRECISION) AND labels.y2 >= CAST(0 + key_1_series.i AS DOUBLE PRECISION)
), shares AS (
  SELECT
    spans.g AS g,
    spans.n AS n,
    key_0.k AS k0,
    key_1.k AS k1,
    CAST(spans.s0_0 / spans.p0 / spans.p1 / spans.p2 AS DOUBLE PRECISION) AS r0,
    CAST(CASE WHEN spans.p1 <= 1 AND spans.p2 <= 1 THEN spans.s0_1 / spans.p0 ELSE 1 - spans.s0_0 / spans.p0 / spans.p1 / spans.p2 END AS DOUBLE PRECISION) AS q0,
    CASE
      WHEN spans.s0_0 > 0 THEN
        spans.n
      ELSE
        0
    END AS u0,
    CASE
      WHEN spans.s0_1 > 0 OR spans.p1 > 1 OR spans.p2 > 1 THEN
        0
      ELSE
        spans.n
    END AS l0
  FROM
    spans
    INNER JOIN key_0 ON key_0.g = spans.g
    INNER JOIN key_1 ON key_1.g = spans.g
), hits AS (
  SELECT
    shares.g AS g,
    shares.n AS n,
    shares.k0 AS k0,
    shares.k1 AS k1,
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
    COALESCE(SUM(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS sy,
    COALESCE(VAR_POP(CAST(s."cost" AS DOUBLE PRECISION)), 0) AS vy
  FROM
    "generalized" AS s
  GROUP BY
    s."group_id"
), cells AS (
  SELECT
    sizes.g AS g,
    sizes.n AS n,
    hits.k0 AS k0,
    hits.k1 AS k1,
    hits.e0 AS e0,
    hits.l0 AS l0,
    hits.u0 AS u0,
    hits.v0 AS v0,
    sizes.sy AS sy,
    sizes.vy * sizes.n AS dd
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    hits.u0 > 0
), ratios AS (
  SELECT
    cells.k0 AS k0,
    cells.k1 AS k1,
    SUM(cells.e0 * cells.sy / cells.n) OVER (PARTITION BY cells.k0, cells.k1) / NULLIF(SUM(cells.e0 * cells.n / cells.n) OVER (PARTITION BY cells.k0, cells.k1), 0) AS r,
    cells.n AS n,
    cells.sy AS sy,
    cells.dd AS dd,
    cells.e0 AS e0,
    cells.l0 AS l0,
    cells.u0 AS u0,
    cells.v0 AS v0
  FROM
    cells
), ranked AS (
  SELECT
    s."group_id" AS g,
    CAST(s."cost" AS DOUBLE PRECISION) AS y,
    CAST(1 AS DOUBLE PRECISION) AS m,
    CAST(ROW_NUMBER() OVER (PARTITION BY s."group_id" ORDER BY s."cost") AS DOUBLE PRECISION) AS upto
  FROM
    "generalized" AS s
), pool AS (
  SELECT
    ranked.y AS y,
    ranked.m AS m,
    ranked.upto AS upto,
    cells.k0 AS k0,
    cells.k1 AS k1,
    cells.n AS c,
    cells.l0 AS lo,
    cells.u0 AS hi,
    cells.n AS n,
    cells.e0 AS e
  FROM
    ranked
    INNER JOIN cells ON cells.g = ranked.g
), steps AS (
  SELECT
    pool.k0 AS k0,
    pool.k1 AS k1,
    pool.y AS y,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS sl,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.upto - pool.m), pool.m))) AS cl,
    SUM(GREATEST(0, LEAST(pool.upto, pool.hi) - GREATEST(pool.upto - pool.m, pool.lo))) AS ml,
    SUM(pool.y * GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS su,
    SUM(GREATEST(0, LEAST(pool.lo - (pool.c - pool.upto), pool.m))) AS cu,
    SUM(GREATEST(0, LEAST(pool.c - pool.upto + pool.m, pool.hi) - GREATEST(pool.c - pool.upto, pool.lo))) AS mu
  FROM
    pool
  GROUP BY
    pool.k0, pool.k1, pool.y
), averages AS (
  SELECT
    steps.k0 AS k0,
    steps.k1 AS k1,
    (SUM(steps.sl) OVER (PARTITION BY steps.k0, steps.k1) + SUM(steps.y * steps.ml) OVER (PARTITION BY steps.k0, steps.k1 ORDER BY steps.y)) / NULLIF(SUM(steps.cl) OVER (PARTITION BY steps.k0, steps.k1) + SUM(steps.ml) OVER (PARTITION BY steps.k0, steps.k1 ORDER BY steps.y), 0) AS al,
    SUM(steps.sl) OVER (PARTITION BY steps.k0, steps.k1) / NULLIF(SUM(steps.cl) OVER (PARTITION BY steps.k0, steps.k1), 0) AS bl,
    (SUM(steps.su) OVER (PARTITION BY steps.k0, steps.k1) + SUM(steps.y * steps.mu) OVER (PARTITION BY steps.k0, steps.k1 ORDER BY steps.y DESC)) / NULLIF(SUM(steps.cu) OVER (PARTITION BY steps.k0, steps.k1) + SUM(steps.mu) OVER (PARTITION BY steps.k0, steps.k1 ORDER BY steps.y DESC), 0) AS au,
    SUM(steps.su) OVER (PARTITION BY steps.k0, steps.k1) / NULLIF(SUM(steps.cu) OVER (PARTITION BY steps.k0, steps.k1), 0) AS bu
  FROM
    steps
), parts AS (
  SELECT
    cells.k0 AS k0,
    cells.k1 AS k1,
    SUM(cells.e0) AS ce0w,
    SUM(cells.l0) AS cl0w,
    SUM(cells.u0) AS cu0w,
    SUM(cells.v0 * (cells.n / cells.n * (cells.n / cells.n))) AS cv0w,
    SUM(cells.e0 * cells.sy / cells.n) AS se,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.dd / cells.n) + cells.v0 * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n * (cells.n * (cells.sy / NULLIF(cells.n, 0)) / cells.n))) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    cells
  GROUP BY
    cells.k0, cells.k1
  UNION ALL
  SELECT
    cells.k0 AS k0,
    cells.k1 AS k1,
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    SUM((CASE WHEN cells.n > 1 THEN cells.v0 ELSE 0 END) * (cells.dd / cells.n) + cells.v0 * (cells.n * (cells.sy / NULLIF(cells.n, 0) - cells.r) / cells.n * (cells.n * (cells.sy / NULLIF(cells.n, 0) - cells.r) / cells.n))) AS av,
    CAST(NULL AS DOUBLE PRECISION) AS al,
    CAST(NULL AS DOUBLE PRECISION) AS au
  FROM
    ratios AS cells
  GROUP BY
    cells.k0, cells.k1
  UNION ALL
  SELECT
    averages.k0 AS k0,
    averages.k1 AS k1,
    CAST(NULL AS DOUBLE PRECISION) AS ce0w,
    CAST(NULL AS DOUBLE PRECISION) AS cl0w,
    CAST(NULL AS DOUBLE PRECISION) AS cu0w,
    CAST(NULL AS DOUBLE PRECISION) AS cv0w,
    CAST(NULL AS DOUBLE PRECISION) AS se,
    CAST(NULL AS DOUBLE PRECISION) AS sv,
    CAST(NULL AS DOUBLE PRECISION) AS av,
    CASE
      WHEN COALESCE(MIN(averages.al), MIN(averages.bl)) < COALESCE(MIN(averages.bl), MIN(averages.al)) THEN
        COALESCE(MIN(averages.al), MIN(averages.bl))
      ELSE
        COALESCE(MIN(averages.bl), MIN(averages.al))
    END AS al,
    CASE
      WHEN COALESCE(MAX(averages.au), MAX(averages.bu)) > COALESCE(MAX(averages.bu), MAX(averages.au)) THEN
        COALESCE(MAX(averages.au), MAX(averages.bu))
      ELSE
        COALESCE(MAX(averages.bu), MAX(averages.au))
    END AS au
  FROM
    averages
  GROUP BY
    averages.k0, averages.k1
), merged AS (
  SELECT
    parts.k0 AS k0,
    parts.k1 AS k1,
    MAX(parts.ce0w) AS ce0w,
    MAX(parts.cl0w) AS cl0w,
    MAX(parts.cu0w) AS cu0w,
    MAX(parts.cv0w) AS cv0w,
    MAX(parts.se) AS se,
    MAX(parts.sv) AS sv,
    MAX(parts.av) AS av,
    MAX(parts.al) AS al,
    MAX(parts.au) AS au
  FROM
    parts
  GROUP BY
    parts.k0, parts.k1
)
SELECT
  answer.k0 AS "sex",
  CASE
    WHEN answer.k1 = 0 THEN
      'low'
    WHEN answer.k1 = 1 THEN
      'middle'
    WHEN answer.k1 = 2 THEN
      'high'
  END AS "fitness",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.se / NULLIF(answer.ce0w, 0) END AS DOUBLE PRECISION) AS "avg_cost_estimate",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.al END AS DOUBLE PRECISION) AS "avg_cost_lower",
  CAST(CASE WHEN answer.cu0w > 0 THEN answer.au END AS DOUBLE PRECISION) AS "avg_cost_upper",
  CAST(CASE WHEN answer.cu0w > 0 THEN CASE WHEN NULLIF(answer.ce0w, 0) IS NULL THEN NULL ELSE SQRT(GREATEST(0, COALESCE(answer.av, 0))) / NULLIF(answer.ce0w, 0) END END AS DOUBLE PRECISION) AS "avg_cost_std_error"
FROM
  merged AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST, answer.k1 NULLS FIRST;
