"""What do the runs say? Reads files only: loading, aggregation, figures, report. No training, no devices."""
