/** A machine that starts many processes is slow, so the plugin's own time begins after the boot. */
export const BOOT_MS = 30_000
export const BOOTS_AT_ONCE = 2
/** Returns how long the starts of so many processes may take together. */
export const bootsMs = (count: number) => Math.ceil(count / BOOTS_AT_ONCE) * BOOT_MS
