/* A C program with TF_NewSession: reads a GraphDef that Python wrote and runs y = x * w + 1.
   Prints `key value` lines: the sum of y, the code of a wrong run, and the version. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static void release(void* data, size_t size, void* unused) { free(data); }

static TF_Buffer* read_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  long size = ftell(file);
  rewind(file);
  void* data = malloc(size);
  if (fread(data, 1, size, file) != (size_t)size) return NULL;
  fclose(file);
  TF_Buffer* buffer = TF_NewBuffer();
  buffer->data = data;
  buffer->length = size;
  buffer->data_deallocator = NULL;
  return buffer;
}

static int fail(const char* where, TF_Status* status) {
  printf("%s %s\n", where, TF_Message(status));
  return 2;
}

int main(int count, char** words) {
  TF_Buffer* text = read_file(words[count - 1]);
  if (!text) return 3;
  TF_Status* status = TF_NewStatus();
  TF_Graph* graph = TF_NewGraph();
  TF_ImportGraphDefOptions* options = TF_NewImportGraphDefOptions();
  TF_GraphImportGraphDef(graph, text, options, status);
  if (TF_GetCode(status) != TF_OK) return fail("import", status);

  TF_SessionOptions* session_options = TF_NewSessionOptions();
  TF_Session* session = TF_NewSession(graph, session_options, status);
  if (TF_GetCode(status) != TF_OK) return fail("session", status);

  const int64_t shape[2] = {2, 3};
  float* numbers = malloc(6 * sizeof(float));
  for (int i = 0; i < 6; ++i) numbers[i] = (float)i;
  TF_Tensor* x = TF_NewTensor(TF_FLOAT, shape, 2, numbers, 6 * sizeof(float), release, NULL);
  TF_Output in = {TF_GraphOperationByName(graph, "x"), 0};
  TF_Output out = {TF_GraphOperationByName(graph, "y"), 0};
  if (!in.oper || !out.oper) return 4;

  TF_Tensor* y = NULL;
  TF_SessionRun(session, NULL, &in, &x, 1, &out, &y, 1, NULL, 0, NULL, status);
  if (TF_GetCode(status) != TF_OK) return fail("run", status);
  float sum = 0;
  long long elements = (long long)(TF_TensorByteSize(y) / sizeof(float));
  for (long long i = 0; i < elements; ++i) sum += ((float*)TF_TensorData(y))[i];
  printf("elements %lld\n", elements);
  printf("sum %.6f\n", sum);

  TF_Tensor* none = NULL;
  TF_SessionRun(session, NULL, NULL, NULL, 0, &out, &none, 1, NULL, 0, NULL, status);
  printf("missing_feed %d\n", (int)TF_GetCode(status));
  TF_CloseSession(session, status);
  printf("closed %d\n", (int)TF_GetCode(status));
  TF_DeleteSession(session, status);
  TF_DeleteTensor(x);
  TF_DeleteTensor(y);
  TF_DeleteGraph(graph);
  printf("version %s\n", TF_Version());
  return 0;
}
