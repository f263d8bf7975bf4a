-- What is counted and put in order of the edges of somebody who has very many, by numbers: their names are read of those that are
-- shown. An edge is the same under each name of its own end (edge); who that end is tells apart what has the same key (self).
ALTER TABLE signals
    ADD COLUMN IF NOT EXISTS edge SimpleAggregateFunction(any, UInt64)
        MATERIALIZED if(kind = 'edge', sipHash64(splitByChar('\t', label)[1], splitByChar('\t', label)[2], splitByChar('\t', label)[5], splitByChar('\t', label)[6]), 0)
        CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS self SimpleAggregateFunction(any, UInt64)
        MATERIALIZED if(kind = 'edge', sipHash64(splitByChar('\t', label)[3], splitByChar('\t', label)[4]), 0) CODEC(ZSTD(1)),
    ADD COLUMN IF NOT EXISTS other_type SimpleAggregateFunction(any, LowCardinality(String))
        MATERIALIZED if(kind = 'edge', splitByChar('\t', label)[5], '') CODEC(ZSTD(1));
-- Of rows from before, in the background: until then the numbers are made of the names when they are asked for.
ALTER TABLE signals MATERIALIZE COLUMN edge, MATERIALIZE COLUMN self, MATERIALIZE COLUMN other_type;
