CREATE TABLE `bot_store` (
	`device_id` integer NOT NULL,
	`bot_id` text NOT NULL,
	`key` text NOT NULL,
	`value` blob NOT NULL,
	`revision` integer NOT NULL,
	`expires_at` integer,
	PRIMARY KEY(`device_id`, `bot_id`, `key`)
);
--> statement-breakpoint
CREATE INDEX `bot_store_expiry` ON `bot_store` (`expires_at`) WHERE expires_at is not null;