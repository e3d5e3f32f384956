// Arguments of another size than the parameter: CL_INVALID_ARG_SIZE is -51.
// NEEDS: ocloc opencl
// RUN: cc %s -o %t/sizes -lOpenCL
// RUN: envisa exec --driver %d --device dg2 -- %t/sizes
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
int main(){ cl_platform_id p; clGetPlatformIDs(1,&p,0); cl_device_id d; clGetDeviceIDs(p,CL_DEVICE_TYPE_ALL,1,&d,0); cl_context x=clCreateContext(0,1,&d,0,0,0);
const char*s="typedef struct {int a,b,c;} S; __kernel void k(__global int*a,int n,float4 f,S s,char c,__local int*l){a[0]=n+f.x+s.c+c+l[0];}"; cl_program g=clCreateProgramWithSource(x,1,&s,0,0); clBuildProgram(g,1,&d,"",0,0); cl_kernel k=clCreateKernel(g,"k",0); char b[64]={0};
int sz[][6]={{8,4,16,12,1,64},{4,2,8,8,2,0},{4,8,12,16,4,64}}; for(int t=0;t<3;t++){for(int i=0;i<6;i++) printf("%d:%d=%d ",i,sz[t][i],clSetKernelArg(k,i,sz[t][i],i==5?0:b)); puts("");} }
