ALTER TABLE `chat_state` ADD `read_at` integer;--> statement-breakpoint
ALTER TABLE `devices` ADD `linked_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `via` text;--> statement-breakpoint
CREATE INDEX `deliveries_message` ON `deliveries` (`device_id`,`message_id`,`created_at`);