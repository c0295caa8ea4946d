//! Attempts of the judged to widen its own scope through the amendment channel.
