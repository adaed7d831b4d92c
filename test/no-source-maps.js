// Types are stripped in place, so line numbers are right as they are; reading the maps of all libraries costs each test
// file a tenth of its start. The runner switches them on.
process.setSourceMapsEnabled(false)
