CREATE TABLE `idempotency_claims` (
	`key_id` text NOT NULL,
	`route` text NOT NULL,
	`idem_key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`claim` text NOT NULL,
	`incarnation` text,
	`until` integer NOT NULL,
	PRIMARY KEY(`key_id`, `route`, `idem_key`)
);
--> statement-breakpoint
CREATE INDEX `idempotency_claims_until` ON `idempotency_claims` (`until`);--> statement-breakpoint
CREATE TABLE `send_wakes` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`p` integer NOT NULL,
	`device_id` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `send_wakes_partition` ON `send_wakes` (`p`);--> statement-breakpoint
CREATE INDEX `send_wakes_device` ON `send_wakes` (`device_id`);