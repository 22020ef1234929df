SELECT COUNT(*), SUM(cost), AVG(cost), MIN(cost), MAX(cost) FROM microdata;
SELECT SUM(cost), AVG(cost) FROM microdata WHERE age BETWEEN 30 AND 60 AND sex = 'F';
SELECT MIN(cost), MAX(cost), COUNT(cost) FROM microdata WHERE fitness <> 'low' AND admission_date < '2024-09-01';
SELECT COUNT(*), AVG(cost) FROM microdata WHERE cost > 5000 AND sex = 'M';
SELECT sex, SUM(cost), MAX(cost) FROM microdata GROUP BY sex;
SELECT sex, fitness, AVG(cost) FROM microdata WHERE age > 40 GROUP BY sex, fitness
