ALTER TABLE `bot_timers` ADD `held_in` text;--> statement-breakpoint
CREATE INDEX `bot_timers_held` ON `bot_timers` (`device_id`,`held_in`) WHERE held_in is not null;