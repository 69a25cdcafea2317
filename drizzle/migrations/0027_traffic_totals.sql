CREATE TABLE `traffic_totals` (
	`hour` integer NOT NULL,
	`part` text NOT NULL,
	`counts` text NOT NULL,
	PRIMARY KEY(`hour`, `part`)
);
