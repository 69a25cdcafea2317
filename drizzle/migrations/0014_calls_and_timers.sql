CREATE TABLE `chat_timers` (
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`seconds` integer NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`device_id`, `chat`)
);
--> statement-breakpoint
ALTER TABLE `chat_state` ADD `call_text_at` integer;--> statement-breakpoint
ALTER TABLE `devices` ADD `calls` text DEFAULT 'ignore' NOT NULL;--> statement-breakpoint
ALTER TABLE `devices` ADD `calls_text` text;