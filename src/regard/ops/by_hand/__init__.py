"""The backend in plain torch: any recurrence by one loop forwards and one back, both derived by hand."""
