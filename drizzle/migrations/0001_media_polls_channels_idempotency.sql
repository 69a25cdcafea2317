CREATE TABLE `channels` (
	`device_id` integer NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`can_send` integer NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `id`)
);
--> statement-breakpoint
CREATE TABLE `idempotency` (
	`key_id` text NOT NULL,
	`route` text NOT NULL,
	`idem_key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`wa_ids` text,
	`status` integer,
	`answer` blob,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`key_id`, `route`, `idem_key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_created` ON `idempotency` (`created_at`);--> statement-breakpoint
CREATE TABLE `media_files` (
	`id` text PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`path` text NOT NULL,
	`meta` blob NOT NULL,
	`upload` blob,
	`uploaded_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `media_files_created` ON `media_files` (`created_at`);--> statement-breakpoint
CREATE TABLE `poll_votes` (
	`device_id` integer NOT NULL,
	`poll_id` text NOT NULL,
	`voter` text NOT NULL,
	`selected` blob NOT NULL,
	`voted_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `poll_id`, `voter`)
);
