import { Database } from "bun:sqlite";

/** The tables of Uptime Kuma 1.23 as far as anybody sets something in them. */
const TABLES = `
CREATE TABLE monitor (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN DEFAULT 1 NOT NULL,
  user_id INTEGER, interval INTEGER DEFAULT 20 NOT NULL, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000,
  hostname VARCHAR(255), port INTEGER, created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, keyword VARCHAR(255),
  maxretries INTEGER NOT NULL DEFAULT 0, ignore_tls BOOLEAN DEFAULT 0 NOT NULL, upside_down BOOLEAN DEFAULT 0 NOT NULL,
  maxredirects INTEGER DEFAULT 10 NOT NULL, accepted_statuscodes_json TEXT DEFAULT '["200-299"]' NOT NULL,
  dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255), dns_last_result VARCHAR(255),
  retry_interval INTEGER DEFAULT 0 NOT NULL, push_token VARCHAR(20), method TEXT DEFAULT 'GET' NOT NULL, body TEXT, headers TEXT,
  basic_auth_user TEXT, basic_auth_pass TEXT, docker_host INTEGER, docker_container VARCHAR(255), proxy_id INTEGER,
  expiry_notification BOOLEAN DEFAULT 1, mqtt_topic TEXT, mqtt_success_message VARCHAR(255), mqtt_username VARCHAR(255),
  mqtt_password VARCHAR(255), database_connection_string VARCHAR(2000), database_query TEXT, auth_method VARCHAR(250),
  auth_domain TEXT, auth_workstation TEXT, grpc_url VARCHAR(255), grpc_enable_tls BOOLEAN DEFAULT 0 NOT NULL,
  resend_interval INTEGER DEFAULT 0 NOT NULL, packet_size INTEGER DEFAULT 56 NOT NULL, game VARCHAR(255),
  http_body_encoding VARCHAR(25), description TEXT, tls_ca TEXT, tls_cert TEXT, tls_key TEXT, parent INTEGER,
  invert_keyword BOOLEAN DEFAULT 0 NOT NULL, json_path TEXT, expected_value VARCHAR(255),
  timeout DOUBLE DEFAULT 0 NOT NULL, gamedig_given_port_only BOOLEAN DEFAULT 1 NOT NULL);
CREATE TABLE tag (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL);
CREATE TABLE monitor_tag (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, value TEXT);
CREATE TABLE notification (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), config VARCHAR(255),
  active BOOLEAN DEFAULT 1 NOT NULL, user_id INTEGER NOT NULL, is_default BOOLEAN DEFAULT 0 NOT NULL);
CREATE TABLE monitor_notification (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, notification_id INTEGER NOT NULL);
CREATE TABLE maintenance (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, title VARCHAR(150) NOT NULL, description TEXT NOT NULL,
  user_id INTEGER, active BOOLEAN DEFAULT 1 NOT NULL, strategy VARCHAR(50) DEFAULT 'single' NOT NULL, start_date DATETIME,
  end_date DATETIME, start_time TIME, end_time TIME, weekdays VARCHAR(250) DEFAULT '[]', days_of_month TEXT DEFAULT '[]',
  interval_day INTEGER, cron TEXT, timezone VARCHAR(255), duration INTEGER);
CREATE TABLE monitor_maintenance (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, maintenance_id INTEGER NOT NULL);
CREATE TABLE status_page (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, slug VARCHAR(255) NOT NULL, title VARCHAR(255) NOT NULL,
  description TEXT, icon VARCHAR(255) NOT NULL, theme VARCHAR(30) NOT NULL, published BOOLEAN DEFAULT 1 NOT NULL, password VARCHAR,
  footer_text TEXT, custom_css TEXT, google_analytics_tag_id VARCHAR);
CREATE TABLE status_page_cname (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, status_page_id INTEGER NOT NULL, domain VARCHAR NOT NULL);
CREATE TABLE "group" (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, public BOOLEAN DEFAULT 0 NOT NULL,
  active BOOLEAN DEFAULT 1 NOT NULL, weight INTEGER DEFAULT 1000 NOT NULL, status_page_id INTEGER);
CREATE TABLE monitor_group (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, group_id INTEGER NOT NULL,
  weight INTEGER DEFAULT 1000 NOT NULL);`;

/** What version 2 adds (its `knex_migrations`), of which some is set for every monitor. */
const OF_VERSION_2 = `
ALTER TABLE monitor ADD COLUMN json_path_operator VARCHAR(255);
ALTER TABLE monitor ADD COLUMN conditions TEXT DEFAULT '[]' NOT NULL;
ALTER TABLE monitor ADD COLUMN cache_bust BOOLEAN DEFAULT 0 NOT NULL;
ALTER TABLE monitor ADD COLUMN snmp_oid VARCHAR(255);
ALTER TABLE monitor ADD COLUMN rabbitmq_nodes TEXT;
ALTER TABLE monitor ADD COLUMN smtp_security VARCHAR(50);
ALTER TABLE monitor ADD COLUMN ping_count INTEGER DEFAULT 1 NOT NULL;
ALTER TABLE monitor ADD COLUMN ping_numeric BOOLEAN DEFAULT 1 NOT NULL;
ALTER TABLE monitor ADD COLUMN ping_per_request_timeout INTEGER DEFAULT 2 NOT NULL;
ALTER TABLE monitor ADD COLUMN domain_expiry_notification BOOLEAN DEFAULT 1;
UPDATE monitor SET json_path_operator = '>' WHERE type = 'json-query';`;

const CONTENT = `
INSERT INTO monitor (id, name, type, interval) VALUES (1, 'Production', 'group', 60);
INSERT INTO monitor (name, type, url, interval, maxretries, retry_interval, resend_interval, timeout, headers, basic_auth_user,
  basic_auth_pass, auth_method, parent, description, accepted_statuscodes_json, body, method)
VALUES ('Shop', 'http', 'https://shop.example.com/health', 60, 2, 20, 10, 12, '{"X-Token":"t0p","Accept":"text/plain"}', 'probe', 's3cret',
  'basic', 1, 'The shop
# monitors: {}', '["200-299","418"]', '{"a":1}', 'POST');
INSERT INTO monitor (name, type, url, interval, keyword, invert_keyword, active, maxredirects) VALUES
  ('Shop', 'keyword', 'http://shop.example.com/', 20, 'error', 1, 0, 0);
INSERT INTO monitor (name, type, url, interval, json_path, expected_value) VALUES ('Queue', 'json-query', 'https://shop.example.com/q', 300, '$.queue.length', '5');
INSERT INTO monitor (name, type, hostname, port, interval) VALUES ('SSH', 'port', 'ssh.example.com', 22, 60);
INSERT INTO monitor (name, type, hostname, interval) VALUES ('Router', 'ping', 'router.example.com', 60);
INSERT INTO monitor (name, type, hostname, port, dns_resolve_server, dns_resolve_type, interval)
  VALUES ('Mail', 'dns', 'example.com', 53, '9.9.9.9', 'MX', 60);
INSERT INTO monitor (name, type, push_token, interval) VALUES ('Backup', 'push', 'abcdef', 3600);
INSERT INTO monitor (name, type, database_connection_string, database_query, interval)
  VALUES ('Orders', 'postgres', 'postgres://probe:pw@db.example.com/orders', 'SELECT 1', 60);
INSERT INTO monitor (name, type, database_connection_string, interval)
  VALUES ('Ledger', 'sqlserver', 'Server=sql.example.com,1444;Database=ledger;User Id=sa;Password=pw', 60);
INSERT INTO monitor (name, type, url, interval, upside_down) VALUES ('Honeypot', 'http', 'http://192.0.2.9/', 60, 1);
INSERT INTO monitor (name, type, docker_container, interval) VALUES ('Cart', 'docker', 'cart', 60);
INSERT INTO tag (name, color) VALUES ('Team', '#fff');
INSERT INTO monitor_tag (monitor_id, tag_id, value) VALUES (2, 1, 'Pay ments');
INSERT INTO notification (name, user_id, config) VALUES
  ('Chat', 1, '{"type":"slack","slackwebhookURL":"https://chat.example.com/secret-hook"}'),
  ('Matrix', 1, '{"type":"matrix","homeserverUrl":"https://matrix.example.com"}');
INSERT INTO monitor_notification (monitor_id, notification_id) VALUES (2, 1), (2, 2);
INSERT INTO maintenance (id, title, description, strategy, start_date, end_date, timezone) VALUES
  (1, 'Move', '', 'single', '2035-03-07 22:00:00', '2035-03-08 02:00:00', 'UTC');
INSERT INTO maintenance (id, title, description, strategy, cron, timezone) VALUES (2, 'Patch day', '', 'cron', '0 3 * * 2', 'Europe/Berlin');
INSERT INTO monitor_maintenance (monitor_id, maintenance_id) VALUES (2, 1);
INSERT INTO status_page (id, slug, title, icon, theme, custom_css) VALUES (1, 'kuma', 'Kuma', '/icon.svg', 'auto', 'body {}');
INSERT INTO "group" (id, name, status_page_id) VALUES (1, 'Services', 1);
INSERT INTO monitor_group (monitor_id, group_id, weight) VALUES (6, 1, 2), (2, 1, 1), (12, 1, 3);`;

/** Makes a database as Uptime Kuma leaves it: with a write-ahead log. */
export function makeKumaDatabase(path: string, version: 1 | 2): void {
  const database = new Database(path);
  database.run("PRAGMA journal_mode = WAL");
  database.run(TABLES);
  database.run(CONTENT);
  if (version === 2) database.run(OF_VERSION_2);
  database.close();
}
