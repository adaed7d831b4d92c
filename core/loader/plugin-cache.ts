import type { Cache } from '@svc/plugin-sdk'
import type { Db } from '../database/db.ts'

/** Creates the cache of one plugin, its rows of the table `plugin_cache`. */
export function createCache (db: Db, plugin: string): Cache {
  return {
    async get (key) {
      const { rows } = await db.query<{ value: unknown }>(
        'select value from plugin_cache where plugin = $1 and key = $2 and (expires_at is null or expires_at > now())',
        [plugin, key])
      return rows[0]?.value
    },
    async set (key, value, ttlMs) {
      await db.query(`insert into plugin_cache (plugin, key, value, expires_at)
        values ($1, $2, $3::jsonb, now() + $4 * interval '1 millisecond')
        on conflict (plugin, key) do update set value = excluded.value, expires_at = excluded.expires_at`,
      [plugin, key, JSON.stringify(value ?? null), ttlMs ?? null])
    },
    async delete (key) {
      await db.query('delete from plugin_cache where plugin = $1 and key = $2', [plugin, key])
    }
  }
}

/** Deletes expired entries. */
export async function dropExpiredCache (db: Db): Promise<void> {
  await db.query('delete from plugin_cache where expires_at <= now()')
}
