const CLIMBS = ['..', '../', '../..', '..\\', '..\\..', './..', '.\\..', '....//', '..;/', '..%00', '..\0', '..\n', ' ..', '.. ',
  '..\u200b', '．．', '‥', '..%2f', '%2e%2e', '%2e%2e%2f', '%252e%252e%252f', '..%5c', '..%c0%af', '..%u2216', '..／', '..∕', '..＼']
const TARGETS = ['secret', 'etc/passwd', 'etc\\passwd', 'new.sfc', 'base/../secret', '']
const ABSOLUTE = ['/etc/passwd', '//etc/passwd', '///secret', '\\etc\\passwd', '\\\\host\\share\\x', '//host/share', 'C:', 'C:\\x',
  'c:/x', 'C:x', 'file:///etc/passwd', '/proc/self/environ', '/dev/stdin', '\\\\?\\C:\\x', '\\\\.\\NUL', '~', '~/x', '~root/x']
const CONTROL = ['\0', 'a\0.sfc', '.sfc\0.png', 'a\nb', 'a\rb', 'a\r\nSet-Cookie: x=1', '\t', '\x1b[31m', '\x7f', '\x85', '\u2028',
  '\u202efcs.a', '\ufeffa', '\ud800', 'a\udc00b']
const ODD = ['.', '...', '....', ' ', '  a', 'a ', 'a.', 'CON', 'NUL.sfc', 'com1', 'aux', 'a:b', 'a.sfc:stream', '::$DATA', '-rf',
  '--help', '$(id)', '`id`', '|id', ';id', '&&id', '$HOME', '%s%n', '{{7*7}}', '<img src=x>', '"', "'", '*', '?', '[a]', '#', '@',
  'link', 'up', 'dangling', 'link/', 'up/secret', 'up/etc/passwd', 'dangling/x', './link', 'folder/../up/secret', '.git', '.htaccess',
  '.assembling', 'é', 'e\u0301', '🎮', 'İ', 'ﬀ', 'x'.repeat(255), 'x'.repeat(256), 'x'.repeat(5000), '../'.repeat(50) + 'secret']

/** Names and paths that have broken other servers, or might. */
export const NASTY_NAMES: readonly string[] = [...new Set([
  '', ...CLIMBS.flatMap((climb) => TARGETS.map((target) => `${climb}/${target}`)), ...CLIMBS, ...ABSOLUTE, ...CONTROL, ...ODD
])]
