-- The tables of .grader/serve.db; store.py says what the file is for. Times are texts that sort as times do.
CREATE TABLE IF NOT EXISTS attempt (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- the place in the queue
    student TEXT NOT NULL, assignment TEXT NOT NULL, nth INTEGER NOT NULL,
    received TEXT NOT NULL, sha256 TEXT NOT NULL, place TEXT NOT NULL,
    state TEXT NOT NULL, tries INTEGER NOT NULL DEFAULT 0, counts INTEGER NOT NULL DEFAULT 0,
    score REAL, max_score REAL, worth REAL, message TEXT NOT NULL DEFAULT '', finished TEXT NOT NULL DEFAULT '',
    taken TEXT NOT NULL DEFAULT '',  -- when grading last took the attempt out of the queue
    seconds REAL NOT NULL DEFAULT 0,  -- that grading has spent on it, in all tries
    deaths INTEGER NOT NULL DEFAULT 0,  -- of the grading process, while it graded this attempt
    removed INTEGER NOT NULL DEFAULT 0,  -- 1 if its files were removed to make room for newer attempts
    flags TEXT NOT NULL DEFAULT '',  -- of its grade, as JSON
    UNIQUE (student, assignment, nth));
CREATE INDEX IF NOT EXISTS attempt_state ON attempt (state, id);
CREATE INDEX IF NOT EXISTS attempt_turn ON attempt (student, taken, seconds);
CREATE TABLE IF NOT EXISTS link (
    id TEXT PRIMARY KEY, person TEXT NOT NULL, role TEXT NOT NULL, expires TEXT NOT NULL, revoked TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS token (digest TEXT PRIMARY KEY, kind TEXT NOT NULL, value TEXT NOT NULL, expires TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS released (assignment TEXT PRIMARY KEY, at TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_place (
    person TEXT NOT NULL, assignment TEXT NOT NULL, platform TEXT NOT NULL, subject TEXT NOT NULL, lineitem TEXT NOT NULL,
    sending TEXT NOT NULL DEFAULT '', sent TEXT NOT NULL DEFAULT '',
    items TEXT NOT NULL DEFAULT '', link TEXT NOT NULL DEFAULT '',  -- where the line item is found if the launch named none
    attempt TEXT NOT NULL DEFAULT '',  -- when the attempt was received whose score was sent
    refused TEXT NOT NULL DEFAULT '', problem TEXT NOT NULL DEFAULT '',  -- the score that the platform refuses; why
    PRIMARY KEY (person, assignment));
CREATE TABLE IF NOT EXISTS lti_roster (platform TEXT NOT NULL, url TEXT PRIMARY KEY, fetched TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_course (platform TEXT PRIMARY KEY, course TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS lti_elsewhere (platform TEXT NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (platform, origin));
CREATE TABLE IF NOT EXISTS solutions_shown (assignment TEXT PRIMARY KEY, at TEXT NOT NULL);
