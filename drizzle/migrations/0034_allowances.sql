CREATE TABLE `allowance_uses` (
	`id` integer PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`kind` text NOT NULL,
	`used` integer NOT NULL,
	`used_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `allowance_uses_device` ON `allowance_uses` (`device_id`,`kind`,`used_at`);--> statement-breakpoint
INSERT INTO `allowance_uses` (`device_id`, `kind`, `used`, `used_at`) SELECT `device_id`, 'checks', `asked`, `asked_at` FROM `number_questions`;--> statement-breakpoint
DROP TABLE `number_questions`;
