-- A pane that was closed by hand outlives its session, whose name is to be forgotten with it.
ALTER TABLE closed_panes DROP COLUMN tmux_session;
