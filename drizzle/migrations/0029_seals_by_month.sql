-- What is there was sealed with one key for everything; a new database has nothing of that.
INSERT INTO `meta` (`key`, `value`) SELECT 'seals_of_before', 'written' WHERE EXISTS (SELECT 1 FROM `meta` WHERE `key` = 'master_key_check');
