import { Migration } from '@mikro-orm/migrations'

/** Tables of the inbox, and of the channels that forward it. */
export class Migration20261121300000 extends Migration {
  override up (): void {
    // True if the listeners to the end of a task have not run yet.
    this.addSql('alter table "tasks" add column "end_pending" boolean not null default false')
    this.addSql(`create table "notifications" (
      "id" serial primary key,
      "user_id" int not null,
      "kind" text not null,
      "level" text not null,
      "title" text null,
      "body" text null,
      "link" text null,
      "icon" text null,
      "data" jsonb not null default '{}'::jsonb,
      "actor_id" int null,
      "read_at" timestamptz(3) null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "notifications_user_id_id_index" on "notifications" ("user_id", "id")')
    this.addSql('alter table "notifications" add constraint "notifications_level_check" check ("level" in (\'info\', \'success\', \'warning\', \'error\'))')
    this.addSql(`create table "notification_channels" (
      "id" serial primary key,
      "user_id" int not null,
      "type" text not null,
      "name" text not null,
      "enabled" boolean not null default true,
      "min_level" text not null default 'info',
      "topics" text[] null,
      "sealed" text not null,
      "confirmed" boolean not null default false,
      "code_hash" text null,
      "code_expires_at" timestamptz(3) null,
      "code_tries" int not null default 0,
      "last_delivered_at" timestamptz(3) null,
      "last_error" text null,
      "consecutive_failures" int not null default 0,
      "recent_at" timestamptz[] null,
      "created_at" timestamptz(3) not null default now(),
      "updated_at" timestamptz(3) not null default now())`)
    this.addSql('create index "notification_channels_user_id_index" on "notification_channels" ("user_id")')
    this.addSql('alter table "notification_channels" add constraint "notification_channels_min_level_check" check ("min_level" in (\'info\', \'warning\', \'error\'))')
    this.addSql(`create table "channel_deliveries" (
      "id" bigserial primary key,
      "channel_id" int not null,
      "notification" jsonb not null,
      "attempts" int not null default 0,
      "deaths" int not null default 0,
      "due_at" timestamptz(3) not null default now(),
      "worker_id" text null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "channel_deliveries_channel_id_id_index" on "channel_deliveries" ("channel_id", "id")')
    this.addSql('alter table "notifications" add constraint "notifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "notifications" add constraint "notifications_actor_id_foreign" foreign key ("actor_id") references "users" ("id") on delete set null')
    this.addSql('alter table "notification_channels" add constraint "notification_channels_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade')
    this.addSql('alter table "channel_deliveries" add constraint "channel_deliveries_channel_id_foreign" foreign key ("channel_id") references "notification_channels" ("id") on delete cascade')
  }
}
