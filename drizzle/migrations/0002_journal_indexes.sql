DROP INDEX `journal_stanza`;--> statement-breakpoint
CREATE INDEX `journal_unspent` ON `journal` (`device_id`) WHERE content is not null;--> statement-breakpoint
CREATE INDEX `journal_age` ON `journal` (`created_at`);