ALTER TABLE `outbox` ADD `sent_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `delivered_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `read_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `played_at` integer;--> statement-breakpoint
ALTER TABLE `outbox` ADD `ended_at` integer;--> statement-breakpoint
CREATE INDEX `outbox_left` ON `outbox` (`sent_at`) WHERE is_reply = 0 and sent_at is not null;--> statement-breakpoint
CREATE INDEX `outbox_refused` ON `outbox` (`ended_at`) WHERE is_reply = 0 and attempts > 0 and state = 'failed' and ended_at is not null;