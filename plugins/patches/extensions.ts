/** The file extensions of patches. */
export const PATCH_EXTENSIONS = ['ips', 'ups', 'bps', 'ppf', 'rup', 'aps', 'bdf', 'pmsr', 'vcdiff', 'xdelta']
