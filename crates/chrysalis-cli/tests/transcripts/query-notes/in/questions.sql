SELECT COUNT(*) FROM microdata WHERE gender = 'F';
SELECT COUNT(*) FROM microdata WHERE gender IN ('f', 'm');
