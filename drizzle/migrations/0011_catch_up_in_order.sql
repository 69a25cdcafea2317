DROP INDEX `deliveries_due`;--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`device_id`,`next_at`,`chat`,`attempts`) WHERE state in ('pending','retrying');--> statement-breakpoint
CREATE INDEX `deliveries_waiting_chat` ON `deliveries` (`device_id`,`chat`,`created_at`) WHERE state in ('pending','retrying');--> statement-breakpoint
-- What waits behind an older delivery of its chat is held: earlier versions kept them apart by their times alone.
UPDATE deliveries SET next_at = NULL WHERE state IN ('pending', 'retrying') AND attempts = 0 AND EXISTS (
  SELECT 1 FROM deliveries older WHERE older.device_id = deliveries.device_id AND older.chat = deliveries.chat
    AND older.state IN ('pending', 'retrying') AND older.attempts <= 5
    AND (older.created_at, older.rowid) < (deliveries.created_at, deliveries.rowid));
