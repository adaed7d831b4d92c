import { Migration } from '@mikro-orm/migrations'

/** Invalidates cached callers of browser sessions, as for tokens. */
export class Migration20261122114500 extends Migration {
  override up (): void {
    this.addSql(`create trigger "announce_callers" after delete or update of "user_id", "device_id", "token_hash", "expires_at" on "sessions"
      for each statement execute function announce_callers()`)
  }
}
