SELECT COUNT(*) FROM microdata WHERE age BETWEEN 30 AND 60 AND zip_code LIKE '12%';
SELECT sex, COUNT(*) FROM microdata WHERE disease IN ('influenza', 'asthma') GROUP BY sex
