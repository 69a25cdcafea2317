CREATE TABLE `number_checks` (
	`device_id` integer NOT NULL,
	`number` text NOT NULL,
	`exists` integer NOT NULL,
	`lid_user` text,
	`checked_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `number`)
);
--> statement-breakpoint
CREATE TABLE `number_questions` (
	`id` integer PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`asked` integer NOT NULL,
	`asked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `number_questions_device` ON `number_questions` (`device_id`,`asked_at`);