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
    "permuted" AS s
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
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g,
    COUNT(*) AS h
  FROM
    "permuted" AS q
  WHERE
    q."age" BETWEEN 30 AND 60 AND q."sex" IN ('F')
  GROUP BY
    q."group_id"
), helped AS (
  SELECT
    SUM(hits.e0) AS ce0w,
    SUM(p."mean") AS se,
    SUM(p."variance") AS sv,
    SUM(CAST(p."sum_lb" AS DOUBLE PRECISION)) AS sl,
    SUM(CAST(p."sum_ub" AS DOUBLE PRECISION)) AS su
  FROM
    hits
    INNER JOIN "help" AS p ON p."group_id" = hits.g AND p."hits" = hits.h
)
SELECT
  answer.se AS "sum_cost_estimate",
  answer.sl AS "sum_cost_lower",
  answer.su AS "sum_cost_upper",
  SQRT(answer.sv) AS "sum_cost_std_error",
  answer.se / answer.ce0w AS "avg_cost_estimate",
  answer.sl / answer.ce0w AS "avg_cost_lower",
  answer.su / answer.ce0w AS "avg_cost_upper",
  SQRT(answer.sv) / answer.ce0w AS "avg_cost_std_error"
FROM
  helped AS answer;
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g,
    COUNT(*) AS h
  FROM
    "permuted" AS q
  WHERE
    q."fitness" IN ('middle', 'high') AND q."admission_date" <= DATE '2024-08-31'
  GROUP BY
    q."group_id"
), found AS (
  SELECT
    hits.e0 AS e0,
    ROW_NUMBER() OVER (
      ORDER BY p."min_lb" + p."max_ub"
    ) AS up,
    ROW_NUMBER() OVER (
      ORDER BY p."min_lb" + p."max_ub" DESC
    ) AS down,
    p."min_mean" AS min_mean,
    p."min_variance" AS min_variance,
    p."min_lb" AS min_lb,
    p."min_ub" AS min_ub,
    p."max_mean" AS max_mean,
    p."max_variance" AS max_variance,
    p."max_lb" AS max_lb,
    p."max_ub" AS max_ub
  FROM
    hits
    INNER JOIN "help" AS p ON p."group_id" = hits.g AND p."hits" = hits.h
), helped AS (
  SELECT
    SUM(found.e0) AS ce0w,
    MIN(found.min_mean) AS ne,
    MAX(found.min_variance) FILTER (WHERE found.up = 1) AS nv,
    MIN(CAST(found.min_lb AS DOUBLE PRECISION)) AS nl,
    MIN(CAST(found.min_ub AS DOUBLE PRECISION)) AS nu,
    MAX(found.max_mean) AS xe,
    MAX(found.max_variance) FILTER (WHERE found.down = 1) AS xv,
    MAX(CAST(found.max_lb AS DOUBLE PRECISION)) AS xl,
    MAX(CAST(found.max_ub AS DOUBLE PRECISION)) AS xu
  FROM
    found
)
SELECT
  answer.ne AS "min_cost_estimate",
  answer.nl AS "min_cost_lower",
  answer.nu AS "min_cost_upper",
  SQRT(answer.nv) AS "min_cost_std_error",
  answer.xe AS "max_cost_estimate",
  answer.xl AS "max_cost_lower",
  answer.xu AS "max_cost_upper",
  SQRT(answer.xv) AS "max_cost_std_error",
  COALESCE(answer.ce0w, 0) AS "count_cost_estimate",
  COALESCE(answer.ce0w, 0) AS "count_cost_lower",
  COALESCE(answer.ce0w, 0) AS "count_cost_upper",
  CAST(0 AS DOUBLE PRECISION) AS "count_cost_std_error"
FROM
  helped AS answer;
WITH hits AS (
  SELECT
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g
  FROM
    "permuted" AS q
  WHERE
    q."sex" IN ('M')
  GROUP BY
    q."group_id"
), sizes AS (
  SELECT
    s."group_id" AS g,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS n,
    CAST(COUNT(*) FILTER (WHERE s."cost" >= 5001) AS DOUBLE PRECISION) AS cw,
    COALESCE(SUM(CAST(s."cost" AS DOUBLE PRECISION)) FILTER (WHERE s."cost" >= 5001), 0) AS sy,
    COALESCE(VAR_POP(CAST(s."cost" AS DOUBLE PRECISION)) FILTER (WHERE s."cost" >= 5001), 0) AS vy
  FROM
    "permuted" AS s
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
    LEAST(hits.e0, sizes.cw) AS hi0w,
    sizes.sy AS sy,
    sizes.vy * sizes.cw AS dd
  FROM
    sizes
    INNER JOIN hits ON hits.g = sizes.g
  WHERE
    LEAST(hits.e0, sizes.cw) > 0
), ratios AS (
  SELECT
    SUM(cells.e0 * cells.sy / cells.n) OVER () / NULLIF(SUM(cells.e0 * cells.cw / cells.n) OVER (), 0) AS r,
    cells.n AS n,
    cells.sy AS sy,
    cells.dd AS dd,
    cells.e0 AS e0,
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
    INNER JOIN "permuted" AS s ON s."group_id" = cells.g
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
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * (cells.cw * (cells.n - cells.cw) / cells.n / cells.n)) AS cv0w,
    SUM(cells.e0 * cells.sy / cells.n) AS se,
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * ((cells.dd + cells.cw * (cells.sy / NULLIF(cells.cw, 0) * (cells.sy / NULLIF(cells.cw, 0))) * (cells.n - cells.cw) / cells.n) / cells.n)) AS sv,
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
    SUM((CASE WHEN cells.n > 1 THEN cells.e0 * (cells.n - cells.e0) / (cells.n - 1) ELSE 0 END) * ((cells.dd + cells.cw * ((cells.sy / NULLIF(cells.cw, 0) - cells.r) * (cells.sy / NULLIF(cells.cw, 0) - cells.r)) * (cells.n - cells.cw) / cells.n) / cells.n)) AS av,
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
WITH hits AS (
  SELECT
    q."sex" AS k0,
    q."group_id" AS g,
    COUNT(*) AS h
  FROM
    "permuted" AS q
  GROUP BY
    q."sex", q."group_id"
), found AS (
  SELECT
    hits.k0 AS k0,
    ROW_NUMBER() OVER (
      PARTITION BY hits.k0
      ORDER BY p."min_lb" + p."max_ub" DESC
    ) AS down,
    p."mean" AS mean,
    p."variance" AS variance,
    p."sum_lb" AS sum_lb,
    p."sum_ub" AS sum_ub,
    p."max_mean" AS max_mean,
    p."max_variance" AS max_variance,
    p."max_lb" AS max_lb,
    p."max_ub" AS max_ub
  FROM
    hits
    INNER JOIN "help" AS p ON p."group_id" = hits.g AND p."hits" = hits.h
), helped AS (
  SELECT
    found.k0 AS k0,
    SUM(found.mean) AS se,
    SUM(found.variance) AS sv,
    SUM(CAST(found.sum_lb AS DOUBLE PRECISION)) AS sl,
    SUM(CAST(found.sum_ub AS DOUBLE PRECISION)) AS su,
    MAX(found.max_mean) AS xe,
    MAX(found.max_variance) FILTER (WHERE found.down = 1) AS xv,
    MAX(CAST(found.max_lb AS DOUBLE PRECISION)) AS xl,
    MAX(CAST(found.max_ub AS DOUBLE PRECISION)) AS xu
  FROM
    found
  GROUP BY
    found.k0
)
SELECT
  answer.k0 AS "sex",
  answer.se AS "sum_cost_estimate",
  answer.sl AS "sum_cost_lower",
  answer.su AS "sum_cost_upper",
  SQRT(answer.sv) AS "sum_cost_std_error",
  answer.xe AS "max_cost_estimate",
  answer.xl AS "max_cost_lower",
  answer.xu AS "max_cost_upper",
  SQRT(answer.xv) AS "max_cost_std_error"
FROM
  helped AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST;
WITH hits AS (
  SELECT
    q."sex" AS k0,
    q."fitness" AS k1,
    CAST(COUNT(*) AS DOUBLE PRECISION) AS e0,
    q."group_id" AS g,
    COUNT(*) AS h
  FROM
    "permuted" AS q
  WHERE
    q."age" >= 41
  GROUP BY
    q."sex", q."fitness", q."group_id"
), helped AS (
  SELECT
    hits.k0 AS k0,
    hits.k1 AS k1,
    SUM(hits.e0) AS ce0w,
    SUM(p."mean") AS se,
    SUM(p."variance") AS sv,
    SUM(CAST(p."sum_lb" AS DOUBLE PRECISION)) AS sl,
    SUM(CAST(p."sum_ub" AS DOUBLE PRECISION)) AS su
  FROM
    hits
    INNER JOIN "help" AS p ON p."group_id" = hits.g AND p."hits" = hits.h
  GROUP BY
    hits.k0, hits.k1
)
SELECT
  answer.k0 AS "sex",
  answer.k1 AS "fitness",
  answer.se / answer.ce0w AS "avg_cost_estimate",
  answer.sl / answer.ce0w AS "avg_cost_lower",
  answer.su / answer.ce0w AS "avg_cost_upper",
  SQRT(answer.sv) / answer.ce0w AS "avg_cost_std_error"
FROM
  helped AS answer ORDER BY answer.k0 COLLATE "C" NULLS FIRST, CAST(CASE WHEN answer.k1 = 'low' THEN 0 WHEN answer.k1 = 'middle' THEN 1 WHEN answer.k1 = 'high' THEN 2 END AS DOUBLE PRECISION) NULLS FIRST;
