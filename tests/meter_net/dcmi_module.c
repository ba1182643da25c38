// Teaches ipmi_sim the DCMI command Get Power Reading, which it lacks: watts from a file that is read anew
// every time. Built by the test against the headers of libopenipmi-dev. A file that holds "off" answers that
// no power is measured, "none" that the command is unknown.
#include <OpenIPMI/ipmi_msgbits.h>
#include <OpenIPMI/mcserv.h>
#include <OpenIPMI/serv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kDcmi = 0xdc, kGetPowerReading = 0x02, kUnknownCommand = 0xc1 };

static char watts_file[4096];

static void put16(unsigned char* at, unsigned value) {
  at[0] = (unsigned char)(value & 0xff);
  at[1] = (unsigned char)(value >> 8 & 0xff);
}

static void answer(lmc_data_t* mc, msg_t* msg, unsigned char* rdata, unsigned int* rdata_len, void* cb_data) {
  char text[64] = "none";
  FILE* file = fopen(watts_file, "r");
  (void)mc;
  (void)cb_data;
  if (file) {
    if (!fgets(text, sizeof(text), file)) strcpy(text, "none");
    fclose(file);
  }
  rdata[0] = 0;
  rdata[1] = kDcmi;
  *rdata_len = 1;
  if (msg->cmd != kGetPowerReading || strncmp(text, "none", 4) == 0) {
    rdata[0] = kUnknownCommand;
    return;
  }
  // DCMI 1.5, section 6.6.1: current, minimum, maximum, mean; time stamp; period in ms; state.
  memset(rdata + 2, 0, 17);
  for (int i = 0; i < 4; ++i) put16(rdata + 2 + 2 * i, (unsigned)atoi(text));
  put16(rdata + 14, 1000);
  rdata[18] = strncmp(text, "off", 3) == 0 ? 0 : 0x40;
  *rdata_len = 19;
}

int ipmi_sim_module_print_version(sys_data_t* sys, char* options) {
  (void)sys;
  (void)options;
  return 0;
}

int ipmi_sim_module_init(sys_data_t* sys, const char* options) {
  (void)sys;
  snprintf(watts_file, sizeof(watts_file), "%s", options);
  ipmi_emu_register_group_extension_handler(kDcmi, answer, NULL);
  return 0;
}
