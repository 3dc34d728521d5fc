-- The tables of .grader/serve.db; store.py says what the file is for. Times are texts that sort as times do.
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the place in the queue
    student TEXT NOT NULL, assignment TEXT NOT NULL, nth INTEGER NOT NULL,
    received TEXT NOT NULL, sha256 TEXT NOT NULL, place TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0,
    score REAL, max_score REAL, worth REAL, message TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
    flags TEXT NOT NULL DEFAULT '',  -- of its grade, as JSON
    UNIQUE (student, assignment, nth));
CREATE INDEX IF NOT EXISTS attempt_state ON attempt (state, id);
CREATE TABLE IF NOT EXISTS link (
    id TEXT PRIMARY KEY, person TEXT NOT NULL, role TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS token (digest TEXT PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS released (assignment TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_place (
    person TEXT NOT NULL, assignment TEXT NOT NULL, platform TEXT NOT NULL, subject TEXT NOT NULL, lineitem TEXT NOT NULL,
    sending TEXT NOT NULL DEFAULT '', sent TEXT NOT NULL DEFAULT '', PRIMARY KEY (person, assignment));
CREATE TABLE IF NOT EXISTS lti_roster (platform TEXT NOT NULL, url TEXT PRIMARY KEY, fetched TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_course (platform TEXT PRIMARY KEY, course TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS solutions_shown (assignment TEXT PRIMARY KEY, at TEXT NOT NULL);
