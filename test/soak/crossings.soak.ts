/** Runs tests of concurrent requests and random sequences with many rounds. They read the number when they load. */
process.env.SOAK_ROUNDS ??= '40'
await import('../plugins/sync/crossing.soak.ts')
await import('../plugins/permissions/default.test.ts')
await import('../plugins/deletion/deletion.soak.ts')
await import('../plugins/assets/history.test.ts')
await import('../plugins/assets/history.soak.ts')
await import('../plugins/webdav/histories.soak.ts')
