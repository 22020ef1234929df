-- 28. Mean wage by sex.
SELECT sex, AVG(salary) AS wage, COUNT(*) AS n FROM microdata GROUP BY sex;

-- 29. The median wage by region, highest first.
SELECT economic_region, MEDIAN(salary) AS wage FROM microdata GROUP BY economic_region ORDER BY 2 DESC;

-- 30. The hourly wage of everybody, pooled.
SELECT SUM(salary) / SUM(hours_worked * 52.0) AS hourly FROM microdata WHERE hours_worked > 0;

-- 31. The wage bill in millions by marital status.
SELECT marital, SUM(salary) / 1000000.0 AS millions FROM microdata GROUP BY marital ORDER BY millions DESC LIMIT 3;

-- 32. The tenth and the ninetieth percentile, and their ratio.
SELECT PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY salary) AS p10, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY salary) AS p90,
       PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY salary) / PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY salary) AS ratio
FROM microdata WHERE weeks_worked = 49;

-- 33. The gender pay gap within each region.
SELECT economic_region, 1 - AVG(salary) FILTER (WHERE sex = 'female') / AVG(salary) FILTER (WHERE sex = 'male') AS gap
FROM microdata GROUP BY economic_region;

-- 34. The share of wages above 100,000 by level of education.
SELECT education_level, AVG(CASE WHEN salary > 100000 THEN 1 ELSE 0 END) AS share, COUNT(*) AS n
FROM microdata GROUP BY education_level HAVING COUNT(*) >= 500 ORDER BY share DESC;

-- 35. Mean wage by age band.
SELECT CASE WHEN age < 30 THEN 'under 30' WHEN age < 50 THEN '30 to 49' ELSE '50 and over' END AS band, AVG(salary) AS wage
FROM microdata GROUP BY 1;

-- 36. Interviews and wages by month.
SELECT EXTRACT(MONTH FROM surveyed) AS month, COUNT(*) AS n, AVG(salary) AS wage FROM microdata GROUP BY EXTRACT(MONTH FROM surveyed) ORDER BY month;

-- 37. The first quarter of the year only.
SELECT COUNT(*) AS n, SUM(salary) AS bill FROM microdata WHERE EXTRACT(QUARTER FROM surveyed) = 1 AND YEAR(surveyed) = 2018;

-- 38. Interviews at the weekend, by region.
SELECT economic_region, COUNT(*) FILTER (WHERE EXTRACT(DOW FROM surveyed) IN (0, 6)) AS weekend FROM microdata GROUP BY economic_region;

-- 39. The standard deviation and the coefficient of variation of wages by sex.
SELECT sex, STDDEV_SAMP(salary) AS s, STDDEV_SAMP(salary) / AVG(salary) AS cv FROM microdata GROUP BY sex;

-- 40. Mean wage by area of the country.
SELECT r.area, AVG(m.salary) AS wage FROM microdata AS m INNER JOIN regions AS r ON r.region = m.economic_region GROUP BY r.area;

-- 41. Wages corrected for prices.
SELECT AVG(salary / r.price_index) AS real_wage FROM microdata JOIN regions r ON economic_region = r.region;

-- 42. Wages on the coast above the poverty line.
SELECT COUNT(*) FROM microdata WHERE salary >= 25000 AND economic_region IN (SELECT region FROM regions WHERE has_coast = 'yes' AND price_index > 1);

-- 43. Mean age, hours and children of those who earn over 150,000.
SELECT AVG(age) AS age, AVG(hours_worked) AS hours, SUM(children) AS children, MAX(age) AS oldest FROM microdata WHERE salary > 150000;

-- 44. The number of races and regions that occur among women over 60.
SELECT COUNT(DISTINCT race) AS races, COUNT(DISTINCT economic_region) AS regions FROM microdata WHERE sex = 'female' AND age > 60;

-- 45. Yearly hours and the wage weighted by them.
SELECT SUM(salary * hours_worked) / SUM(hours_worked) AS wage FROM microdata WHERE sex = 'male' AND salary < 400000;

-- 46. Wages in steps of 25,000.
SELECT FLOOR(salary / 25000) * 25000 AS step, COUNT(*) AS n FROM microdata WHERE salary < 200000 GROUP BY FLOOR(salary / 25000) * 25000 ORDER BY step;

-- 47. The range and the mid-range of wages of young people.
SELECT MAX(salary) - MIN(salary) AS spread, (MAX(salary) + MIN(salary)) / 2 AS middle FROM microdata WHERE age < 25;

-- 48. How many people lack a wage, an age or a region.
SELECT COUNT(*) - COUNT(salary) AS no_wage, COUNT(*) - COUNT(age) AS no_age, COUNT(*) - COUNT(economic_region) AS no_region FROM microdata;

-- 49. Part-time and full-time pay, with the short form of CASE.
SELECT CASE weeks_worked WHEN 49 THEN 'full year' ELSE 'part of it' END AS year, AVG(salary) AS wage
FROM microdata WHERE hours_worked >= 20 AND NOT (salary BETWEEN 1 AND 1000) GROUP BY year HAVING AVG(salary) > 10000;

-- 50. The three best paid combinations of education and marital status.
SELECT education_level, marital, AVG(salary) AS wage FROM microdata GROUP BY education_level, marital HAVING COUNT(*) > 200 ORDER BY wage DESC, education_level LIMIT 3;

-- 51. Pairs of colleagues of the same age of whom one earns twice as much.
SELECT COUNT(*) FROM microdata a JOIN microdata b ON a.age = b.age WHERE a.salary >= 2 * b.salary;

-- 52. The names of everybody who earns over half a million.
SELECT * FROM microdata WHERE salary > 500000;

-- 53. Wages of the youngest against those of the oldest, as a union.
SELECT AVG(salary) FROM microdata WHERE age < 25 UNION ALL SELECT AVG(salary) FROM microdata WHERE age > 60;
