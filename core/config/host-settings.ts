/** The sections of `config.yml` that each host of a database has for itself. */
export const HOST_SECTIONS: readonly string[] = ['data_dir', 'server', 'database', 'cluster', 'metrics', 'store']

/** Settings of other sections that each host has for itself. */
export const HOST_KEYS: Readonly<Record<string, readonly string[]>> = { auth: ['secret_key'], scan: ['hash_threads'] }
