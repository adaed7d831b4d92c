import asyncHooks from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'

// tap would note every file that a test loads, for `--changed`, and have each program that the test starts do the same and
// count the lines it runs. Noting costs a quarter of a start; counting, far more than that of a whole server.
process.env._TAPJS_PROCESSINFO_EXCLUDE_ = '/./'
// It was for this process: what it starts is to run as it would without tests.
delete process.env.NODE_OPTIONS
// It would also follow every promise until it is collected, to know the test that an error which nobody caught belongs to;
// that is a tenth and more of a file with many requests. The file fails by such an error without it.
asyncHooks.createHook = () => ({ enable () {}, disable () {} })
syncBuiltinESMExports()
