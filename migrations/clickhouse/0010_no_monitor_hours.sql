-- Nobody reads the sums of hours: percentiles cannot be made of them, and one pass over the checks answers everything else too.
DROP TABLE IF EXISTS monitor_hours;
