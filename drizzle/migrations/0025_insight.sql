CREATE TABLE `traffic_hours` (
	`device_id` integer NOT NULL,
	`hour` integer NOT NULL,
	`part` text NOT NULL,
	`counts` text NOT NULL,
	PRIMARY KEY(`device_id`, `hour`, `part`)
);
--> statement-breakpoint
ALTER TABLE `decisions` ADD `way` text;