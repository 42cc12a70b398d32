# machine_news.c: the end of the writer is a loss although a reader takes its place
s/^        if (machine->is_downgrading)$/        if (false)/
