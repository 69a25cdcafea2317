ALTER TABLE `inbox` ADD `target_id` text;--> statement-breakpoint
CREATE INDEX `inbox_listed` ON `inbox` (`device_id`,`from_me`,`received_at`) WHERE type <> 'timer' and chat <> 'status@broadcast';--> statement-breakpoint
CREATE INDEX `inbox_listed_chat` ON `inbox` (`device_id`,`chat`,`from_me`,`received_at`) WHERE type <> 'timer' and chat <> 'status@broadcast';--> statement-breakpoint
CREATE INDEX `inbox_changes` ON `inbox` (`device_id`,`target_id`) WHERE target_id is not null;--> statement-breakpoint
CREATE INDEX `outbox_listed` ON `outbox` (`device_id`,`created_at`);--> statement-breakpoint
CREATE INDEX `outbox_listed_chat` ON `outbox` (`device_id`,`chat`,`created_at`);--> statement-breakpoint
CREATE INDEX `outbox_listed_state` ON `outbox` (`device_id`,`state`,`created_at`) WHERE state <> 'queued';