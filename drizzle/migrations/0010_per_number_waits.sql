DROP INDEX `bot_timers_due`;--> statement-breakpoint
CREATE INDEX `bot_timers_next` ON `bot_timers` (`device_id`,`due_at`);--> statement-breakpoint
CREATE INDEX `bot_dialogues_expiry` ON `bot_dialogues` (`expires_at`);--> statement-breakpoint
CREATE INDEX `bot_sessions_locale` ON `bot_sessions` (`device_id`,`bot_id`) WHERE locale is not null;--> statement-breakpoint
CREATE INDEX `inbox_waiting` ON `inbox` (`device_id`,`id`) WHERE state = 'pending';