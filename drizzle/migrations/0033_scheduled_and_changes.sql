ALTER TABLE `outbox` ADD `send_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `scheduled_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `not_after` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `target_id` text;--> statement-breakpoint
CREATE INDEX `outbox_scheduled` ON `outbox` (`device_id`,`send_at`,`id`) WHERE state = 'scheduled';--> statement-breakpoint
CREATE INDEX `outbox_changes` ON `outbox` (`device_id`,`target_id`) WHERE target_id is not null;--> statement-breakpoint
CREATE INDEX `outbox_not_after` ON `outbox` (`device_id`,`not_after`) WHERE state = 'queued' and not_after is not null;