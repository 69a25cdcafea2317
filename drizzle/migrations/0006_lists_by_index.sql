DROP INDEX `decisions_device`;--> statement-breakpoint
CREATE INDEX `decisions_chat` ON `decisions` (`device_id`,`chat`,`at`);--> statement-breakpoint
CREATE INDEX `decisions_message` ON `decisions` (`device_id`,`wa_id`);--> statement-breakpoint
CREATE INDEX `decisions_device` ON `decisions` (`device_id`,`at`) WHERE chat <> 'status@broadcast';--> statement-breakpoint
CREATE INDEX `deliveries_state` ON `deliveries` (`device_id`,`state`,`created_at`);