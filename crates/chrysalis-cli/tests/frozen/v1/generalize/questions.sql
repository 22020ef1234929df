SELECT COUNT(*) FROM microdata;
SELECT COUNT(*) FROM microdata WHERE age BETWEEN 30 AND 60 AND sex = 'F' AND disease LIKE '%infection%';
SELECT COUNT(*) FROM microdata WHERE disease IN ('influenza', 'asthma', 'migraine');
SELECT COUNT(*), COUNT(disease) FROM microdata WHERE NOT sex = 'M' AND fitness >= 'middle';
SELECT COUNT(age) FROM microdata WHERE occupation IS NULL OR occupation LIKE '%e%';
SELECT sex, COUNT(*) FROM microdata WHERE age < 50 GROUP BY sex;
SELECT disease, COUNT(*) FROM microdata WHERE admission_date >= '2024-06-01' GROUP BY disease;
SELECT fitness, disease, COUNT(*) FROM microdata WHERE disease LIKE 'a%' GROUP BY fitness, disease;
SELECT COUNT(*) FROM microdata WHERE (age < 30 OR fitness = 'low') AND disease IS NOT NULL
