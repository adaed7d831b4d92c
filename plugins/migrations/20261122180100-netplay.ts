import { Migration } from '@mikro-orm/migrations'

/** Tables of netplay rooms and their players. */
export class Migration20261122180100 extends Migration {
  override up (): void {
    this.addSql(`create table "netplay_rooms" (
      "id" text not null primary key,
      "name" text not null,
      "game_id" text not null,
      "domain" text null,
      "password_mark" text null,
      "max_players" int not null,
      "created_at" timestamptz(3) not null default now())`)
    this.addSql('create index "netplay_rooms_game_id_index" on "netplay_rooms" ("game_id")')
    this.addSql(`create table "netplay_players" (
      "id" serial primary key,
      "room_id" text not null,
      "socket_id" text not null,
      "player_id" text not null,
      "player_name" text not null,
      "worker" text not null)`)
    this.addSql('alter table "netplay_players" add constraint "netplay_players_socket_id_unique" unique ("socket_id")')
    this.addSql('alter table "netplay_players" add constraint "netplay_players_room_id_player_id_unique" unique ("room_id", "player_id")')
    this.addSql('alter table "netplay_players" add constraint "netplay_players_room_id_foreign" foreign key ("room_id") references "netplay_rooms" ("id") on delete cascade')
  }
}
