//! BBR version 3 on scripted deliveries, against numbers computed by hand from the draft.
