-- A charge takes no more than was reserved, and no balance below zero: what a provider counted above is the service's loss.
-- NULL: charged before this was so.
ALTER TABLE charges ADD COLUMN excess_nano bigint CHECK (excess_nano >= 0);
