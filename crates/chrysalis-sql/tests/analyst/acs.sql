-- 1. The median income of adults.
SELECT MEDIAN(pincp) FROM microdata WHERE agep >= 18;

-- 2. Quartiles of income by sex.
SELECT sex, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY pincp) AS q1, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY pincp) AS q2,
       PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY pincp) AS q3
FROM microdata GROUP BY sex;

-- 3. The 90th percentile of the income of people with a degree.
SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY pincp) AS p90 FROM microdata WHERE edu >= 9;

-- 4. How many people the survey stands for, by sex.
SELECT sex, SUM(pwgtp) AS people FROM microdata GROUP BY sex ORDER BY people DESC;

-- 5. The weighted mean income of adults.
SELECT SUM(pincp * pwgtp) / SUM(pwgtp) AS mean_income FROM microdata WHERE agep >= 18 AND pincp IS NOT NULL;

-- 6. The weighted total income by housing tenure.
SELECT own_rent, SUM(pincp * pwgtp) AS total FROM microdata GROUP BY own_rent;

-- 7. The share of people with difficulty walking, by decade of age.
SELECT agep / 10 AS decade, AVG(CASE WHEN dphy = 1 THEN 1.0 ELSE 0.0 END) AS share FROM microdata GROUP BY agep / 10 ORDER BY decade;

-- 8. The same with a FILTER, in per cent.
SELECT 100.0 * COUNT(*) FILTER (WHERE dphy = 1) / COUNT(*) AS percent FROM microdata WHERE agep >= 65;

-- 9. Income of those with and without a physical difficulty.
SELECT dphy, AVG(pincp) AS income, COUNT(*) AS n FROM microdata WHERE agep BETWEEN 25 AND 64 GROUP BY dphy;

-- 10. Areas with more than 400 high incomes.
SELECT puma, COUNT(*) AS n FROM microdata WHERE pincp > 75000 GROUP BY puma HAVING COUNT(*) > 400;

-- 11. The five areas with the highest mean income.
SELECT puma, AVG(pincp) AS income FROM microdata GROUP BY puma ORDER BY income DESC LIMIT 5;

-- 12. Income bands by sex.
SELECT sex,
       CASE WHEN pincp < 20000 THEN 'low' WHEN pincp < 75000 THEN 'middle' WHEN pincp IS NULL THEN 'none' ELSE 'high' END AS band,
       COUNT(*) AS n
FROM microdata
GROUP BY sex, CASE WHEN pincp < 20000 THEN 'low' WHEN pincp < 75000 THEN 'middle' WHEN pincp IS NULL THEN 'none' ELSE 'high' END;

-- 13. The spread of income.
SELECT STDDEV(pincp) AS s, VAR_POP(pincp) AS v FROM microdata WHERE agep >= 25;

-- 14. Mean and spread of age among those with a physical difficulty.
SELECT AVG(agep) AS mean_age, STDDEV_SAMP(agep) AS spread FROM microdata WHERE dphy = 1;

-- 15. How many different incomes were reported by people over 60.
SELECT COUNT(DISTINCT pincp) AS incomes FROM microdata WHERE agep > 60;

-- 16. How many different areas and levels of education have somebody who earns over 200,000.
SELECT COUNT(DISTINCT puma) AS areas, COUNT(DISTINCT edu) AS levels FROM microdata WHERE pincp > 200000;

-- 17. The gap between the mean incomes of men and women.
SELECT AVG(pincp) FILTER (WHERE sex = 1) - AVG(pincp) FILTER (WHERE sex = 2) AS gap,
       AVG(pincp) FILTER (WHERE sex = 2) / AVG(pincp) FILTER (WHERE sex = 1) AS ratio
FROM microdata WHERE agep BETWEEN 25 AND 64;

-- 18. Mean income by state.
SELECT s.state, AVG(m.pincp) AS income FROM microdata m JOIN states s ON m.puma = s.puma GROUP BY s.state ORDER BY income DESC;

-- 19. People with a physical difficulty in the South.
SELECT COUNT(*) FROM microdata WHERE dphy = 1 AND puma IN (SELECT puma FROM states WHERE division = 'South');

-- 20. High incomes in towns against the country.
SELECT states.urban, COUNT(*) FILTER (WHERE pincp >= 100000) * 1.0 / COUNT(*) AS share
FROM microdata LEFT JOIN states ON states.puma = microdata.puma GROUP BY states.urban;

-- 21. People who are either old or have a physical difficulty.
SELECT COUNT(*) AS n FROM microdata WHERE agep >= 75 OR dphy = 1;

-- 22. Both sensitive columns at once: difficulty against a high income.
SELECT dphy, pincp > 50000 AS is_high, COUNT(*) AS n FROM microdata WHERE pincp IS NOT NULL AND dphy IS NOT NULL GROUP BY dphy, pincp > 50000;

-- 23. Income in thousands, lowest and highest, of people without a degree.
SELECT MIN(pincp / 1000.0) AS least, MAX(pincp / 1000.0) AS most, AVG(pincp / 1000.0) AS mean FROM microdata WHERE edu < 9;

-- 24. The mean number of children, weighted, by marital status.
SELECT msp, SUM(noc * pwgtp) / SUM(pwgtp) AS children FROM microdata WHERE noc IS NOT NULL GROUP BY msp;

-- 25. Rank the areas by income.
SELECT puma, RANK() OVER (ORDER BY AVG(pincp) DESC) AS place FROM microdata GROUP BY puma;

-- 26. People who earn more than the mean of their own area.
SELECT COUNT(*) FROM microdata m WHERE pincp > (SELECT AVG(pincp) FROM microdata x WHERE x.puma = m.puma);

-- 27. The correlation of age and income.
SELECT CORR(agep, pincp) FROM microdata WHERE agep >= 18;
