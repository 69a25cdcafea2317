CREATE TABLE `chat_settings` (
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`archived` integer NOT NULL,
	`pinned` integer NOT NULL,
	`muted_until` integer,
	`unread` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `chat`)
);
--> statement-breakpoint
CREATE TABLE `contacts` (
	`device_id` integer NOT NULL,
	`person` text NOT NULL,
	`names` blob,
	`details` blob,
	`asked_at` integer,
	`created_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `person`)
);
--> statement-breakpoint
CREATE INDEX `contacts_listed` ON `contacts` (`device_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `chat_timers` ADD `set_by` text;--> statement-breakpoint
INSERT INTO `contacts` (`device_id`, `person`, `created_at`, `seen_at`)
SELECT `device_id`, `person`, unixepoch() * 1000, unixepoch() * 1000 FROM (
	SELECT `device_id`, `sender` AS `person` FROM `inbox` WHERE `chat` <> 'status@broadcast'
	UNION SELECT `device_id`, `chat` FROM `outbox`
) WHERE (`person` LIKE '%@s.whatsapp.net' OR `person` LIKE '%@lid')
AND NOT EXISTS (SELECT 1 FROM `devices` d WHERE d.`id` = `device_id` AND d.`number` || '@s.whatsapp.net' = `person`);
